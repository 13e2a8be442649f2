// The Kubernetes release the embedded cluster presents itself as: its API server, its OpenAPI documents and its kubelets
// name the same one. It is the release the suites compare it with (test/differential), and that of data/schemas.json.

export const presentedKubernetes = { major: 1, minor: 37, patch: 1 } as const;

/** `v1.37.1` */
export const gitVersion = `v${presentedKubernetes.major}.${presentedKubernetes.minor}.${presentedKubernetes.patch}`;
