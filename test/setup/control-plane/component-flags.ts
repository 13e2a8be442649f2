// The command lines of the four servers. Everything listens on loopback only; data is thrown away afterwards.
import { writeFileSync } from 'node:fs';
import type { ClusterFiles } from './files.ts';

export interface ControlPlaneOptions {
  /** Also run kube-scheduler. */
  scheduler?: boolean;
  /** Also run kube-controller-manager: workloads, garbage collection, node lifecycle, service accounts. */
  controllerManager?: boolean;
  /** Of all three Kubernetes servers. */
  featureGates?: Record<string, boolean>;
  /** Extra flags; where a flag is repeated, these win. */
  apiServerFlags?: string[];
  controllerManagerFlags?: string[];
  schedulerFlags?: string[];
  /** A profile of kube-scheduler (plugins and their settings) instead of the default one. */
  schedulerProfile?: Record<string, unknown>;
}

export interface Ports {
  api: number;
  etcd: number;
  etcdPeer: number;
}

export function etcdFlags(files: ClusterFiles, ports: Ports): string[] {
  const client = `http://127.0.0.1:${ports.etcd}`;
  const peer = `http://127.0.0.1:${ports.etcdPeer}`;
  return [
    '--name=rig',
    `--data-dir=${files.etcdData}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=rig=${peer}`,
    '--unsafe-no-fsync',
    '--log-level=warn',
  ];
}

export function apiServerFlags(files: ClusterFiles, ports: Ports, options: ControlPlaneOptions): string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    // No one reaches the API through a Service here, and 127.0.0.1 is not allowed as an endpoint.
    '--endpoint-reconciler-type=none',
    `--secure-port=${ports.api}`,
    `--tls-cert-file=${files.servingCert}`,
    `--tls-private-key-file=${files.servingKey}`,
    `--client-ca-file=${files.caFile}`,
    `--token-auth-file=${files.tokens}`,
    '--authorization-mode=RBAC',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${files.serviceAccountPublicKey}`,
    `--service-account-signing-key-file=${files.serviceAccountKey}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    '--allow-privileged',
    // Service accounts are made by the controller manager; without one, pods could never be created.
    ...(options.controllerManager ? [] : ['--disable-admission-plugins=ServiceAccount']),
    ...featureGateFlag(options),
    ...(options.apiServerFlags ?? []),
  ];
}

export function controllerManagerFlags(files: ClusterFiles, options: ControlPlaneOptions): string[] {
  return [
    ...clientFlags(files),
    '--secure-port=0',
    `--root-ca-file=${files.caFile}`,
    `--service-account-private-key-file=${files.serviceAccountKey}`,
    ...featureGateFlag(options),
    ...(options.controllerManagerFlags ?? []),
  ];
}

export function schedulerFlags(files: ClusterFiles, options: ControlPlaneOptions): string[] {
  const config = options.schedulerProfile === undefined ? [] : [`--config=${schedulerConfig(files, options)}`];
  return [
    ...clientFlags(files),
    '--secure-port=0',
    ...config,
    ...featureGateFlag(options),
    ...(options.schedulerFlags ?? []),
  ];
}

/** With a configuration file the flags for the connection are ignored, so it repeats them. */
function schedulerConfig(files: ClusterFiles, options: ControlPlaneOptions): string {
  const file = `${files.kubeconfig}.scheduler.json`;
  const config = {
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    clientConnection: { kubeconfig: files.kubeconfig, qps: 2000, burst: 4000 },
    leaderElection: { leaderElect: false },
    podMaxBackoffSeconds: 1,
    profiles: [{ schedulerName: 'default-scheduler', ...options.schedulerProfile }],
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

function clientFlags({ kubeconfig }: ClusterFiles): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    '--leader-elect=false',
    // Tests create thousands of objects at once; the defaults (20 to 50 per second) would be what they measure.
    '--kube-api-qps=2000',
    '--kube-api-burst=4000',
  ];
}

function featureGateFlag({ featureGates = {} }: ControlPlaneOptions): string[] {
  const gates = Object.entries(featureGates).map(([name, on]) => `${name}=${on}`);
  return gates.length > 0 ? [`--feature-gates=${gates.join(',')}`] : [];
}
