// Plans a snapshot with the peer's scheduler, once, and prints what it came to as JSON. Built inside a copy of the peer's
// module, because that knows the versions of everything it needs.
//
//	peer-snapshot SNAPSHOT.json
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	fakeclient "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/log"

	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/fake"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/logging"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	requirements "sigs.k8s.io/karpenter/pkg/scheduling"
	"sigs.k8s.io/karpenter/pkg/test"
)

type requirement struct {
	Key       string                      `json:"key"`
	Operator  corev1.NodeSelectorOperator `json:"operator"`
	Values    []string                    `json:"values"`
	MinValues *int                        `json:"minValues"`
}

type overhead struct {
	KubeReserved      corev1.ResourceList `json:"kubeReserved"`
	SystemReserved    corev1.ResourceList `json:"systemReserved"`
	EvictionThreshold corev1.ResourceList `json:"evictionThreshold"`
}

type snapshot struct {
	Provider struct {
		WellKnownLabels []string `json:"wellKnownLabels"`
	} `json:"provider"`
	Objects struct {
		Items []json.RawMessage `json:"items"`
	} `json:"objects"`
	InstanceTypes []struct {
		NodePool string `json:"nodePool"`
		Items    []struct {
			Name         string              `json:"name"`
			Requirements []requirement       `json:"requirements"`
			Capacity     corev1.ResourceList `json:"capacity"`
			Overhead     overhead            `json:"overhead"`
			Offerings    []struct {
				Requirements []requirement `json:"requirements"`
				Price        float64       `json:"price"`
				Available    bool          `json:"available"`
			} `json:"offerings"`
		} `json:"items"`
	} `json:"instanceTypes"`
}

type answer struct {
	Ms           float64 `json:"ms"`
	Nodes        int     `json:"nodes"`
	Unplaced     int     `json:"unplaced"`
	PricePerHour float64 `json:"pricePerHour"`
}

func main() {
	if len(os.Args) != 2 {
		fail("usage: peer-snapshot SNAPSHOT.json", nil)
	}
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		fail("reading the snapshot", err)
	}
	var given snapshot
	if err := json.Unmarshal(text, &given); err != nil {
		fail("understanding the snapshot", err)
	}
	found, err := plan(given)
	if err != nil {
		fail("planning", err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		fail("writing the answer", err)
	}
}

func plan(given snapshot) (answer, error) {
	log.SetLogger(logging.NopLogger)
	karpenter.WellKnownLabels = karpenter.WellKnownLabels.Insert(given.Provider.WellKnownLabels...)
	pools, pods, err := objectsOf(given)
	if err != nil {
		return answer{}, err
	}
	types := typesOf(given)
	ctx := options.ToContext(injection.WithControllerName(context.Background(), "provisioner"), test.Options())
	provider := fake.NewCloudProvider()
	client := fakeclient.NewClientBuilder().Build()
	now := &clock.RealClock{}
	cluster := state.NewCluster(now, client, provider)
	// As many at once as the peer's own benchmark.
	atOnce := scheduling.NumConcurrentReconciles(5)
	topology, err := scheduling.NewTopology(ctx, client, cluster, nil, pools, types, pods, atOnce)
	if err != nil {
		return answer{}, err
	}
	recorder := events.NewRecorder(&record.FakeRecorder{})
	scheduler := scheduling.NewScheduler(ctx, client, pools, cluster, nil, topology, types, nil, recorder, now, nil, nil, atOnce)
	start := time.Now()
	results, err := scheduler.Solve(ctx, pods)
	if err != nil {
		return answer{}, err
	}
	took := time.Since(start)
	found := answer{
		Ms:       float64(took.Microseconds()) / 1000,
		Nodes:    len(results.NewNodeClaims),
		Unplaced: len(results.PodErrors),
	}
	for _, claim := range results.NewNodeClaims {
		found.PricePerHour += cheapest(claim)
	}
	return found, nil
}

// What a node costs at the cheapest it can be launched for.
func cheapest(claim *scheduling.NodeClaim) float64 {
	least := -1.0
	for _, instanceType := range claim.InstanceTypeOptions {
		for _, offering := range instanceType.Offerings.Available().Compatible(claim.Requirements) {
			if least < 0 || offering.Price < least {
				least = offering.Price
			}
		}
	}
	return max(least, 0)
}

func objectsOf(given snapshot) ([]*karpenter.NodePool, []*corev1.Pod, error) {
	var pools []*karpenter.NodePool
	var pods []*corev1.Pod
	for _, item := range given.Objects.Items {
		var own struct {
			Kind string `json:"kind"`
		}
		if err := json.Unmarshal(item, &own); err != nil {
			return nil, nil, err
		}
		switch own.Kind {
		case "NodePool":
			pool := &karpenter.NodePool{}
			if err := json.Unmarshal(item, pool); err != nil {
				return nil, nil, err
			}
			pools = append(pools, pool)
		case "Pod":
			pod := &corev1.Pod{}
			if err := json.Unmarshal(item, pod); err != nil {
				return nil, nil, err
			}
			pods = append(pods, pod)
		default:
			return nil, nil, fmt.Errorf("a %s is not compared", own.Kind)
		}
	}
	return pools, pods, nil
}

func typesOf(given snapshot) map[string][]*cloudprovider.InstanceType {
	byPool := map[string][]*cloudprovider.InstanceType{}
	for _, pool := range given.InstanceTypes {
		for _, item := range pool.Items {
			own := &cloudprovider.InstanceType{
				Name:         item.Name,
				Requirements: requirementsOf(item.Requirements),
				Capacity:     item.Capacity,
				Overhead: &cloudprovider.InstanceTypeOverhead{
					KubeReserved:      item.Overhead.KubeReserved,
					SystemReserved:    item.Overhead.SystemReserved,
					EvictionThreshold: item.Overhead.EvictionThreshold,
				},
			}
			for _, offering := range item.Offerings {
				own.Offerings = append(own.Offerings, &cloudprovider.Offering{
					Requirements: requirementsOf(offering.Requirements),
					Price:        offering.Price,
					Available:    offering.Available,
				})
			}
			byPool[pool.NodePool] = append(byPool[pool.NodePool], own)
		}
	}
	return byPool
}

func requirementsOf(given []requirement) requirements.Requirements {
	all := requirements.NewRequirements()
	for _, own := range given {
		all.Add(requirements.NewRequirementWithFlexibility(own.Key, own.Operator, own.MinValues, own.Values...))
	}
	return all
}

func fail(doing string, err error) {
	if err != nil {
		doing = fmt.Sprintf("%s: %s", doing, err)
	}
	fmt.Fprintln(os.Stderr, doing)
	os.Exit(1)
}
