package needle

// chronicleRules is the grammar of Generated. Every sentence has so many free places that two are
// hardly ever alike; the generator drops the second.
var chronicleRules = map[string][]string{
	"line": {
		"On the {ordinal} of {month} {person} carried {count} {measure} of {adj} {goods} from {place} to the {building} at " +
			"{place}.",
		"The {adj} {building} near {place} lost {count} {bits} in the {weather} of {year}.",
		"{person} told {person} that the {adj} {animal} behind the {building} {fled} before {daytime}.",
		"Nobody in {place} remembered why {first} had painted the {part} of the {building} {colour}.",
		"Some {count} {adj} {animals} crossed the {water} below {place} while {person} counted {measure} of {goods}.",
		"When the {weather} came in {month} the people of {place} moved {count} {bits} into the {adj} {building}.",
		"It took {count} {trade} and {count} {animals} to drag the {adj} {thing} up to {place}.",
		"{person} of {place} paid {count} crowns for the {adj} {thing} that {first} {made} in {year}.",
		"By {daytime} the {water} at {place} had risen {count} feet and covered the {part} of the {building}.",
		"The {trade} of {place} and those of {place} quarrelled over {count} {measure} of {goods} until {month}.",
		"In {year} {person} opened a {adj} {building} where {trade} traded {goods} for {goods}.",
		"A {adj} {animal} slept under the {thing} in the {building} at {place} all {season}.",
		"{first} wrote from {place} that the {goods} were {adj} and that {count} {animals} were missing.",
		"From the {part} of the {building} {person} could see {count} {bits} drifting down the {water}.",
		"{person} never found the {adj} {thing}, though {first} searched the {building} for {count} weeks.",
		"Each {season} {count} {trade} from {place} walked to {place} and mended the {part} of the {building}.",
		"The {animal} that {person} bought at {place} was {colour}, {adj} and afraid of the {weather}.",
		"Between {place} and {place} the road passes {count} {bits}, a {adj} {building} and the {water}.",
		"Old {surname} kept {count} {measure} of {goods} in the {building}, and {first} kept the key.",
		"Was it {first} or {person} who left the {colour} {thing} beside the {water} at {place}?",
		"After {daytime} the {adj} {trade} lit {count} lamps along the {part} and waited for {person}.",
		"\"The {goods} from {place} are {adj},\" said {first}, and sold {count} {measure} of them.",
	},
	"person": {"{first} {surname}"},
	"place":  {"{pre}{post}", "{pre}{post}", "{pre}{post}", "{dir} {pre}{post}"},
	"count":  {"{2~999}", "{1000~9899}", "{word}"},
	"year":   {"{1604~1897}"},
}

// chronicleLists are its words; an underscore stands for a blank.
var chronicleLists = map[string]string{
	"ordinal": `first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
		fifteenth sixteenth seventeenth eighteenth nineteenth twentieth`,
	"month":  `January February March April May June July August September October November December`,
	"season": `spring summer autumn winter Lent Advent harvest`,
	"first": `Agnes Alban Beata Benno Clara Cosmo Doris Edmund Elsa Emil Esther Fabian Flora Gustav Greta Hanno ` +
		`Hedwig Hugo Ida
		Ingrid Ivo Jonas Judith Konrad Kira Leopold Lotte Magnus Martha Mathis Minna Nils Nora Oswin Ottilie Pavel ` +
		`Petra Quentin
		Ragna Rufus Rosa Severin Sigrid Tilda Tobias Ulla Urban Vera Viktor Wanda Wenzel Xenia Yorick Zita`,
	"surname": `Abel Adler Barrow Brandt Calder Corvin Dahl Drake Eberle Ekholm Farrow Finch Gerber Gorst Hale Hobart Ilves
		Jansen Jessop Kestrel Kramer Lindqvist Lorne Marlow Moberg Nadler Norrby Oakes Orme Pellow Pryce Quist Rademaker Rowan
		Sander Selwyn Tarrant Thorne Udall Vance Varga Wexler Wilding Yarrow Zeller`,
	"pre": `Alder Amble Birch Brack Carn Clay Dun East Elm Esk Fal Fern Gar Glen Hart Hazel Holm Inver Kel Kirk Lang ` +
		`Lin Mal
		Mere Nor Oak Pen Quar Raven Rook Sal Stan Tarn Thorn Ul Val Wen Wil Yar Zel`,
	"post": `bach beck borough bridge bury by cliff combe dale den field ford gate ham haven holm hurst ley mark ` +
		`mere mouth ness rigg sett stead thorpe ton wick wold worth`,
	"dir":     `Upper Lower Great Little North South West Old`,
	"measure": `barrels baskets bales bushels casks chests crates flasks hampers jars loads pails sacks tubs wagons`,
	"goods": `barley candles charcoal cheese chestnuts cider clay copper cork feathers figs flax flour furs ginger ` +
		`glass glue gravel
		hay hemp herring hides honey hops ink iron lard leather lentils lime linen malt mustard nails oats oil paper ` +
		`peat pepper
		pitch plums quills resin rope rye salt sand silk slate soap starch straw sugar tallow tar tea thread timber tin ` +
		`turnips
		vinegar walnuts wax wheat wine wool yeast`,
	"adj": `bitter blunt brittle broad broken careful cheap coarse crooked curious damp dark distant dull dusty famous
		feeble fierce foreign frozen gentle gloomy grand greasy heavy hollow humble jagged lame lazy light lonely loud
		massive mild muddy narrow neat noisy pale patient plain polite proud quiet rough rusty sacred shallow sharp silent
		slender sour spare steep stiff strange sturdy sullen tame tidy tough vain warm weary wild`,
	"colour": `amber black blue brown crimson cream golden green grey indigo ochre orange pink purple red russet ` +
		`scarlet silver violet white yellow`,
	"animal": `badger bear boar bull calf cat cow crane crow deer dog donkey duck eel falcon ferret fox goat goose ` +
		`hare hawk hen heron horse lamb lynx mare mole mule otter owl ox pig pony rabbit ram rat raven sheep sow stag ` +
		`stork swan toad trout wolf`,
	"animals": `badgers bears boars bulls calves cats cows cranes crows dogs donkeys ducks eels ferrets foxes goats ` +
		`geese hares hawks hens herons horses lambs mares mules otters owls oxen pigs ponies rabbits rams ravens sheep ` +
		`stags storks swans toads wolves`,
	"fled": `barked bled bolted circled coughed crept cried dug fed fled froze growled hid howled jumped limped ` +
		`rested sang shivered slept sneezed stared stumbled swam trembled vanished waited woke yawned`,
	"building": `abbey bakery barn barracks brewery castle cellar chapel convent cottage dairy farmhouse forge fort ` +
		`foundry gallery granary hospital inn kiln library lighthouse lodge manor market mill monastery observatory palace ` +
		`pottery prison quarry sawmill school smithy stable tannery tavern temple theatre tollhouse tower warehouse ` +
		`windmill workshop`,
	"part": `arches balcony beams benches bricks chimney courtyard cornice dome doors eaves fence floor gable ` +
		`gutters hinges ladder panels pillars porch rafters railing roof shutters stairs threshold tiles vault walls windows`,
	"bits": `anchors anvils axles barges beehives bells boats boulders bridges buckets carts chairs chimneys columns ` +
		`doors drums fences flags gates graves haystacks hedges kettles ladders lamps looms mirrors oars orchards pews ` +
		`planks ploughs posts rafts rakes sails saws shutters sledges statues stools tables tents tiles trees troughs ` +
		`wagons wells wheels windows`,
	"thing": `anchor anvil bell bellows bench bowl cabinet carpet chair chandelier chest clock compass cradle crown ` +
		`cupboard desk drum easel fiddle flute globe harp helmet kettle lantern lathe lens loom lute mirror organ painting ` +
		`pendulum plough pulpit pump quilt saddle sail scale sextant shield spindle statue sundial table telescope throne ` +
		`trumpet vase wheel`,
	"made": `bent built carved cast dyed forged gilded hid lost made mended moulded painted planed polished repaired ` +
		`sewed shaped sketched split stole stained traded tuned varnished wove`,
	"trade": `bakers barbers brewers carpenters carters coopers coppersmiths dyers farmers ferrymen fiddlers ` +
		`fishermen fletchers gardeners glaziers hatters hunters joiners masons millers miners monks nuns painters pedlars ` +
		`pilots plumbers porters potters printers reapers saddlers sailors scribes shepherds smiths soldiers surgeons ` +
		`tailors tanners thatchers tinkers turners weavers`,
	"weather": `blizzard downpour drizzle drought flood fog frost gale hail heat landslide mist rains sleet snow storm ` +
		`thaw thunder whirlwind wind`,
	"water": `bay brook canal creek estuary fen ford harbour lake lagoon marsh millpond moat pond rapids reservoir ` +
		`river spring stream weir`,
	"daytime": `breakfast dawn daybreak dinner dusk evensong matins midday midnight moonrise nightfall noon sundown ` +
		`sunrise supper twilight vespers`,
	"word": `three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen ` +
		`eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety`,
}
