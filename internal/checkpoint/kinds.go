package checkpoint

// The kinds of findings. Each is planted in the tests and found under this name.
const (
	KindIndexUnreadable = "index-unreadable"
	KindIndexStale      = "index-stale"          // lists a tensor that its shard does not hold
	KindIndexWrongShard = "index-wrong-shard"    // lists it in another shard
	KindUnlisted        = "tensor-unlisted"      // a shard holds what the index lacks
	KindTwoShards       = "tensor-in-two-shards" //
	KindTotalSize       = "total-size"           //
	KindShardMissing    = "shard-missing"        //
	KindShardBroken     = "shard-broken"         // truncated, or not safetensors
	KindShardUnlisted   = "shard-unlisted"       // a shard file that no index names
	KindTwoSpellings    = "two-spellings"        // two stored names mean one tensor
	KindConfig          = "config-unreadable"    //
	KindLayerCount      = "layer-count"          //
	KindExpertCount     = "expert-count"         //
	KindMissing         = "tensor-missing"       //
	KindExtra           = "tensor-extra"         //
	KindShape           = "shape"                //
	KindDType           = "dtype"                //
	KindDTypeMinority   = "dtype-minority"       // its peers in other layers are stored otherwise
	KindScaleMissing    = "scale-missing"        //
	KindScaleShape      = "scale-shape"          //
	KindScaleSign       = "scale-not-positive"   //
	KindScaleValue      = "scale-not-finite"     // includes e8m0 255
	KindScaleInverted   = "scale-inverted"       //
	KindMagnitude       = "magnitude"            // dequantised size far from its peers
	KindGateUpScale     = "gate-up-scale"        // w1 and w3 with different global scales
	KindBlockTop        = "block-top"            // block maxima below the top codes
	KindScaleTop        = "scale-top"            // largest NVFP4 block scale far from its peers
	KindNaN             = "nan"                  //
	KindInf             = "inf"                  //
	KindZero            = "all-zero"             //
	KindConstant        = "constant"             //
	KindDuplicate       = "duplicate"            // two tensors with the same bytes
	KindTableRange      = "tid2eid-range"        //
	KindTableRepeat     = "tid2eid-repeat"       //
	KindTableMissing    = "tid2eid-missing"      //
	KindTableExtra      = "tid2eid-extra"        //
	KindBiasMissing     = "bias-missing"         //
	KindBiasOnHash      = "bias-on-hash-layer"   //
	KindGateUpSwapped   = "gate-up-swapped"      //
	KindMismatched      = "expert-mismatched"    // w2 and w3 of different experts
	KindNibbles         = "nibble-order"         //
	KindDeclared        = "contradicts-config"   // stored otherwise than config.json says
	KindBaseDiffers     = "base-differs"         //
	KindBaseSwapped     = "base-swapped"         // holds what the base has under another name
	KindBaseTransposed  = "base-transposed"      // comb, or a square matrix
	KindBaseScale       = "base-scale"           // one factor everywhere
	KindBaseBlocks      = "base-block-scale"     // a factor that changes from block to block
	KindBaseShape       = "base-shape"           //
)
