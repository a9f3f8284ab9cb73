package plot

import (
	"image/color"

	gonum "gonum.org/v1/plot"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// places are the colors of offers.
var places = []struct {
	lab.Place
	color.NRGBA
}{{lab.OnFrontier, Palette[0]}, {lab.OpenPlace, Gray}, {lab.OffIt, Palette[1]}}

// Offers draws what agents cost against the regret that they have for that, each with its name and the 95% interval of
// its mean regret, on log axes. The color says where the offer stands, see [lab.Frontier]. It fails when there are not
// a cost, a place and a name for each, and as Lines does.
func Offers(axes Axes, offers []lab.Offer, costs []float64, stands []lab.Place, names []string) (*gonum.Plot, error) {
	axes.LogX, axes.LogY = true, true
	var series []Series
	var x, y []float64
	for _, place := range places {
		points := Series{Label: string(place.Place), Points: true, Color: place.NRGBA}
		for i, o := range offers {
			if stands[i] != place.Place {
				continue
			}
			points.X, points.Y = append(points.X, costs[i]), append(points.Y, float64(o.Regret.Value))
			series = append(series, Series{X: []float64{costs[i], costs[i]}, Color: place.NRGBA,
				Y: []float64{float64(o.Regret.Lower), float64(o.Regret.Upper)}})
		}
		if len(points.X) > 0 {
			series = append(series, points)
		}
	}
	for i, o := range offers {
		x, y = append(x, costs[i]), append(y, float64(o.Regret.Value))
	}
	p, err := Lines(axes, series...)
	if err != nil {
		return nil, err
	}
	return p, Names(p, x, y, names)
}
