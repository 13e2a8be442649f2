export { DecisionRing } from './decision-ring.ts';
export { type JsonLogOptions, jsonLog, type LogLevel, silentLog } from './json-log.ts';
export { kubeRecorder } from './kube-recorder.ts';
export { type PrometheusMetrics, prometheusMetrics } from './prometheus-metrics.ts';
