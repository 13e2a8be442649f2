// Written by `npm run generate` from scripts/monitoring.
{
  prometheusAlerts+:: std.parseYaml(importstr 'rules.yaml'),
  grafanaDashboards+:: {
    'kerf-overview.json': (import 'dashboards/overview.json'),
    'kerf-launching.json': (import 'dashboards/launching.json'),
    'kerf-disruption.json': (import 'dashboards/disruption.json'),
    'kerf-cost.json': (import 'dashboards/cost.json'),
    'kerf-controller.json': (import 'dashboards/controller.json'),
  },
}
