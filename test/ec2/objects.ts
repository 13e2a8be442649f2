// Objects that end-to-end tests apply.

export const nodeClass = (over: object = {}) => ({
  apiVersion: 'karpenter.k8s.aws/v1',
  kind: 'EC2NodeClass',
  metadata: { name: 'default' },
  spec: {
    role: 'KarpenterNodeRole-one',
    amiSelectorTerms: [{ alias: 'al2023@latest' }],
    subnetSelectorTerms: [{ tags: { 'karpenter.sh/discovery': 'one' } }],
    securityGroupSelectorTerms: [{ tags: { 'karpenter.sh/discovery': 'one' } }],
    ...over,
  },
});

export const capacity = (...types: string[]) => ({
  key: 'karpenter.sh/capacity-type',
  operator: 'In',
  values: types,
});

export const pool = (requirements: object[] = [], over: object = {}) => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: { name: 'default' },
  spec: {
    template: {
      spec: {
        nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
        requirements: [
          { key: 'karpenter.k8s.aws/instance-family', operator: 'In', values: ['m5', 'm6i', 'c5'] },
          ...requirements,
        ],
      },
    },
    disruption: { consolidateAfter: '5s' },
    ...over,
  },
});

export const deployment = (name: string, replicas: number, requests: object = { cpu: '1', memory: '1Gi' }) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'default' },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [{ name: 'app', image: 'none', resources: { requests } }],
      },
    },
  },
});
