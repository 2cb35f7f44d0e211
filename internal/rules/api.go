package rules

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
)

// Public tells whether another module can import a package of this one, and is meant to: everything outside internal/,
// cmd/ and examples/.
func Public(path string) bool {
	rel, ok := inModule(path)
	return ok && !internal(path) && !strings.HasPrefix(rel, "cmd/") && !strings.HasPrefix(rel, "examples/")
}

func internal(path string) bool { return slices.Contains(strings.Split(path, "/"), "internal") }

// API returns the exported identifiers of a package that name a type of an internal package: whoever imports the
// package can neither declare a variable of such a type nor write a function that takes one. Each line begins with the
// identifier, "fidelity.Config.Client names internal/endpoint.Client".
func API(pkg *types.Package) []string {
	w := &walk{pkg: pkg, seen: map[types.Type]bool{}}
	for _, name := range pkg.Scope().Names() {
		o := pkg.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		at := pkg.Name() + "." + name
		if t, ok := o.(*types.TypeName); ok {
			w.declared(at, t)
		} else {
			w.named(at, o.Type())
		}
	}
	slices.Sort(w.found)
	return slices.Compact(w.found)
}

// walk goes through what a user of a package can see.
type walk struct {
	pkg   *types.Package
	seen  map[types.Type]bool
	found []string
}

// declared looks at a type of the package itself: what it stands for, its exported fields and methods.
func (w *walk) declared(at string, t *types.TypeName) {
	if t.IsAlias() {
		w.named(at, types.Unalias(t.Type()))
		return
	}
	n, ok := t.Type().(*types.Named)
	if !ok || w.seen[n] {
		return
	}
	w.seen[n] = true
	for p := range n.TypeParams().TypeParams() {
		w.named(at, p.Constraint())
	}
	w.named(at, n.Underlying())
	for m := range n.Methods() {
		if m.Exported() {
			w.named(at+"."+m.Name(), m.Type())
		}
	}
}

// named looks at the types that a type is made of.
func (w *walk) named(at string, t types.Type) {
	switch t := t.(type) {
	case *types.Alias:
		if w.refers(at, t.Obj()) {
			return
		}
		w.named(at, types.Unalias(t))
	case *types.Named:
		for arg := range t.TypeArgs().Types() {
			w.named(at, arg)
		}
		w.refers(at, t.Obj())
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() || f.Embedded() { // what is embedded shows its own
				w.named(at+"."+f.Name(), f.Type())
			}
		}
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			if m.Exported() {
				w.named(at+"."+m.Name(), m.Type())
			}
		}
		for embedded := range t.EmbeddedTypes() {
			w.named(at, embedded)
		}
	case *types.Signature:
		w.named(at, t.Params())
		w.named(at, t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			w.named(at, v.Type())
		}
	case *types.Map:
		w.named(at, t.Key())
		w.named(at, t.Elem())
	case *types.Union:
		for term := range t.Terms() {
			w.named(at, term.Type())
		}
	case interface{ Elem() types.Type }: // pointer, slice, array, channel
		w.named(at, t.Elem())
	}
}

// refers reports an internal type; one of the package that has no exported name is looked into, as its fields and
// methods are seen all the same.
func (w *walk) refers(at string, o *types.TypeName) bool {
	switch {
	case o.Pkg() == nil:
	case internal(o.Pkg().Path()) && o.Pkg() != w.pkg:
		if rel, ours := inModule(o.Pkg().Path()); ours {
			w.found = append(w.found, fmt.Sprintf("%s names %s.%s", at, rel, o.Name()))
			return true
		}
	case o.Pkg() == w.pkg && !o.Exported():
		w.declared(at, o)
	}
	return false
}
