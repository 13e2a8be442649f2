// A Windows container runs only on a host of its own build.
import type { Failure } from '../../failure.ts';
import { caught, foundIn } from '../../found.ts';
import { texts } from '../../needs.ts';

const builds: Readonly<Record<string, string>> = {
  '2019': '10.0.17763',
  '2022': '10.0.20348',
  '2025': '10.0.26100',
};

export const imageHostVersionMismatch: Failure = {
  id: 'windows/image-host-version-mismatch',
  severity: 'high',
  symptom:
    '`Failed to pull image "mcr.microsoft.com/windows/servercore:…": … no match for platform in manifest: not found`.',
  cause: 'The build of the container image is not the build of the Windows host',
  fix: '`nodeSelector: {node.kubernetes.io/windows-build: "10.0.20348"}` (2022), and a pool whose node class has that family.',
  needs: [texts('object', 'cli')],
  signs: [
    {
      words: ['no match for platform', 'no matching manifest'],
      pattern:
        /(?<image>[\w.:/@-]*(?:windows|nanoserver|servercore|-win-|ltsc20\d\d|dotnet\/framework)[\w.:/@-]*)"?.{0,300}(?:no match for platform in manifest|no matching manifest for windows)|no matching manifest for windows\/\w+ (?<build>10\.0\.\d+)/i,
    },
    {
      words: ['does not match the host operating system', 'based image is incompatible'],
      pattern:
        /container operating system does not match the host operating system|Windows (?:Server )?version (?<build>10\.0\.\d+)-based image is incompatible with a 10\.0\.\d+ host/i,
    },
  ],
  fromText(sightings) {
    const image = caught(sightings, 'image');
    const build = caught(sightings, 'build');
    const year =
      /20(?:19|22|25)/.exec(image ?? '')?.[0] ??
      Object.keys(builds).find(
        (one) => build !== undefined && builds[one] === build.split('.').slice(0, 3).join('.'),
      ) ??
      '2022';
    return [
      foundIn(sightings, {
        summary: `${image === undefined ? 'The image' : `Image ${image}`} is of another Windows build than the node it was pulled on.`,
        fix: [
          `spec.nodeSelector: {node.kubernetes.io/windows-build: "${builds[year] ?? builds['2022']}"} on the pods (Windows ${year})`,
          `A NodePool whose EC2NodeClass has amiSelectorTerms: [{alias: windows${year}@latest}]`,
        ],
      }),
    ];
  },
};
