package plot

import (
	"fmt"
	"image/color"
	"maps"
	"slices"
	"testing"

	"github.com/lucasb-eyer/go-colorful"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// Every agent of an experiment of this project has a style. Other learners may have one.
func TestEveryAgentHasAStyle(t *testing.T) {
	for _, x := range paper.Known {
		for name := range x.Agents {
			if _, ok := styles[name]; !ok {
				t.Errorf("agent %s of experiment %s has no style", name, x.Name)
			}
		}
	}
}

// An agent has the same colour beside any other agents. Up to 16 series of one agent differ from each other. Agents
// without a style have different colours.
func TestStyled(t *testing.T) {
	name := func(s Series) string { return fmt.Sprint(s.Color, s.dash) }
	alone, among := Styled("linear")[0], Styled("mine", "ensemble", "ensemble", "linear")
	if name(alone) != name(among[3]) || alone.Color != Palette[0] {
		t.Errorf("linear has the style %s alone and %s with others, want the same", name(alone), name(among[3]))
	}
	if among[1].Color != Palette[1] || among[2].Color == Palette[1] {
		t.Errorf("two ensembles have the colours %v and %v, want different ones", among[1].Color, among[2].Color)
	}
	all := append(slices.Repeat([]string{"ensemble"}, 15), slices.Collect(maps.Keys(styles))...)
	all = append(slices.DeleteFunc(all, func(s string) bool { return s == "thompson" }), "mine", "yours", "hers")
	seen := map[string]int{}
	for i, s := range Styled(all...) {
		if at, ok := seen[name(s)]; ok {
			t.Errorf("%s (%d) and %s (%d) have the same style: %s", all[i], i, all[at], at, name(s))
		}
		seen[name(s)] = i
	}
}

// A setting of an agent has the same style, whatever the order of a study's files is.
func TestShadesFollowSettings(t *testing.T) {
	ensemble := func(n int) analysis.Curve { return named("ensemble", "particles", n) }
	one := styled([]analysis.Curve{named("linear"), ensemble(10), ensemble(30), ensemble(100)})
	two := styled([]analysis.Curve{ensemble(100), ensemble(10), named("linear"), ensemble(300), ensemble(30)})
	for i, j := range map[int]int{0: 2, 1: 1, 2: 4, 3: 0} {
		if one[i].Color != two[j].Color {
			t.Errorf("series %d has the colour %v, and %v in another figure", i, one[i].Color, two[j].Color)
		}
	}
	three := styled([]analysis.Curve{ensemble(300), ensemble(100), named("linear")})
	if three[0].Color != two[3].Color || three[1].Color != two[0].Color {
		t.Error("the shades of ensembles of 100 and 300 depend on ensembles of 10 and 30")
	}
	if alone := styled([]analysis.Curve{named("linear"), ensemble(30)}); alone[1].Color != one[2].Color {
		t.Error("the shade of an ensemble of 30 depends on other sizes")
	}
	policy := func(name string) analysis.Curve { return named("linear", "policy", name) }
	some := styled([]analysis.Curve{policy("thompson"), policy("ids"), policy("greedy")})
	other := styled([]analysis.Curve{policy("greedy"), policy("thompson")})
	if some[0].Color != Palette[0] || some[0].Color != other[1].Color || some[2].Color != other[0].Color {
		t.Error("the shades of policies depend on the other series")
	}
	if e := styled([]analysis.Curve{named("egreedy", "policy", "egreedy")}); e[0].Color != Palette[2] {
		t.Error("an agent with one policy does not have its own colour")
	}
	prior := styled([]analysis.Curve{named("ensemble", "additive-prior", "yes"), named("ensemble", "additive-prior", "no")})
	if prior[0].Color != Palette[1] {
		t.Error("settings that are strings change the order of the styles")
	}
}

// Readers who see only two kinds of colours (matrices of Machado et al. 2009, full strength) can distinguish the agents
// of a figure: in CIELAB their colours differ by at least 0.15; a difference of 0.02 is just visible.
func TestColoursDiffer(t *testing.T) {
	for _, figure := range [][]string{
		{"linear", "ensemble", "hypernetwork", "egreedy", "independent", "diagonal", "bbb", "dropout", "exact",
			"epinet"},
		{"ids", "thompson", "linear", "ensemble", "exact"},
	} {
		for i, a := range figure {
			for _, b := range figure[:i] {
				for vision, m := range visions {
					d := seen(styles[a].color, m).DistanceLab(seen(styles[b].color, m))
					if styles[a].color != styles[b].color && d < 0.15 {
						t.Errorf("%s and %s have a distance of %.2f in %s vision, want at least 0.15", a, b, d, vision)
					}
				}
			}
		}
	}
}

var visions = map[string][3][3]float64{
	"common": {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protan": {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deutan": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritan": {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// seen returns a colour as a kind of vision sees it.
func seen(c color.NRGBA, vision [3][3]float64) colorful.Color {
	opaque, _ := colorful.MakeColor(c)
	r, g, b := opaque.LinearRgb()
	var out [3]float64
	for i, row := range vision {
		out[i] = row[0]*r + row[1]*g + row[2]*b
	}
	return colorful.LinearRgb(out[0], out[1], out[2]).Clamped()
}
