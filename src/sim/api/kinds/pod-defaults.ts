// What a pod (or a pod template) means when it leaves things out.
import { type JsonObject, listAt, objectAt, setDefault, stringAt } from '../../json.ts';

/** Defaults of every pod spec, also inside a template. */
export function defaultPodSpec(spec: JsonObject): void {
  setDefault(spec, 'restartPolicy', 'Always');
  setDefault(spec, 'terminationGracePeriodSeconds', 30);
  setDefault(spec, 'dnsPolicy', 'ClusterFirst');
  setDefault(spec, 'securityContext', {});
  setDefault(spec, 'schedulerName', 'default-scheduler');
  for (const container of listAt(spec, 'containers')) defaultContainer(container);
  for (const container of listAt(spec, 'initContainers')) defaultContainer(container);
  for (const container of listAt(spec, 'ephemeralContainers')) defaultContainer(container);
  for (const volume of listAt(spec, 'volumes')) defaultVolume(volume);
  for (const constraint of listAt(spec, 'topologySpreadConstraints')) {
    if (constraint['whenUnsatisfiable'] === '') constraint['whenUnsatisfiable'] = 'DoNotSchedule';
  }
  if (spec['hostNetwork'] === true) {
    for (const container of [...listAt(spec, 'containers'), ...listAt(spec, 'initContainers')]) {
      for (const port of listAt(container, 'ports')) setDefault(port, 'hostPort', port['containerPort']);
    }
  }
}

function defaultContainer(container: JsonObject): void {
  setDefault(container, 'terminationMessagePath', '/dev/termination-log');
  setDefault(container, 'terminationMessagePolicy', 'File');
  setDefault(container, 'imagePullPolicy', pullPolicyOf(stringAt(container, 'image')));
  for (const port of listAt(container, 'ports')) setDefault(port, 'protocol', 'TCP');
  for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe']) defaultProbe(container[probe]);
  for (const hook of ['postStart', 'preStop'])
    defaultHttpGet(objectAt(objectAt(container, 'lifecycle'), hook)['httpGet']);
  for (const variable of listAt(container, 'env')) {
    const fieldRef = objectAt(variable, 'valueFrom')['fieldRef'];
    if (fieldRef !== undefined) setDefault(fieldRef as JsonObject, 'apiVersion', 'v1');
  }
}

/** The tag `latest`, said or implied, is pulled every time. */
function pullPolicyOf(image: string): string {
  if (image.includes('@')) return 'IfNotPresent';
  const tag = /:([^/:]+)$/.exec(image)?.[1] ?? 'latest';
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}

function defaultProbe(value: unknown): void {
  if (value === undefined) return;
  const probe = value as JsonObject;
  setDefault(probe, 'timeoutSeconds', 1);
  setDefault(probe, 'periodSeconds', 10);
  setDefault(probe, 'successThreshold', 1);
  setDefault(probe, 'failureThreshold', 3);
  defaultHttpGet(probe['httpGet']);
  const grpc = probe['grpc'];
  if (grpc !== undefined) setDefault(grpc as JsonObject, 'service', '');
}

function defaultHttpGet(value: unknown): void {
  if (value === undefined) return;
  setDefault(value as JsonObject, 'path', '/');
  setDefault(value as JsonObject, 'scheme', 'HTTP');
}

function defaultVolume(volume: JsonObject): void {
  const sources = Object.keys(volume).filter((key) => key !== 'name');
  if (sources.length === 0) volume['emptyDir'] = {};
  for (const source of ['secret', 'configMap', 'downwardAPI', 'projected']) {
    if (volume[source] !== undefined) setDefault(volume[source] as JsonObject, 'defaultMode', 0o644);
  }
  for (const source of listAt(objectAt(volume, 'projected'), 'sources')) {
    const token = source['serviceAccountToken'];
    if (token !== undefined) setDefault(token as JsonObject, 'expirationSeconds', 3600);
  }
  if (volume['hostPath'] !== undefined) setDefault(volume['hostPath'] as JsonObject, 'type', '');
  const template = objectAt(volume, 'ephemeral')['volumeClaimTemplate'];
  if (template !== undefined) setDefault(objectAt(template as JsonObject, 'spec'), 'volumeMode', 'Filesystem');
  for (const items of [
    objectAt(volume, 'downwardAPI'),
    ...listAt(objectAt(volume, 'projected'), 'sources').map((source) => objectAt(source, 'downwardAPI')),
  ]) {
    for (const item of listAt(items, 'items')) {
      if (item['fieldRef'] !== undefined) setDefault(item['fieldRef'] as JsonObject, 'apiVersion', 'v1');
    }
  }
}

/** Defaults only a pod has, not a template. */
export function defaultPod(pod: JsonObject): void {
  const spec = objectAt(pod, 'spec');
  defaultPodSpec(spec);
  setDefault(spec, 'enableServiceLinks', true);
  for (const container of [...listAt(spec, 'containers'), ...listAt(spec, 'initContainers')]) {
    const resources = objectAt(container, 'resources');
    if (resources['limits'] === undefined) continue;
    resources['requests'] = { ...objectAt(resources, 'limits'), ...objectAt(resources, 'requests') };
  }
  const whole = objectAt(spec, 'resources');
  if (whole['limits'] !== undefined) {
    whole['requests'] = { ...objectAt(whole, 'limits'), ...objectAt(whole, 'requests') };
  }
}
