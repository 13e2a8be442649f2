// Import rules: the table of rooms (scripts/rooms.mjs) turned into what dependency-cruiser checks.
import { lightDoor, names, rooms, wireDoors } from './scripts/rooms.mjs';

const page = 'see ARCHITECTURE.md, "Rooms"';

const forbidden = [
  {
    name: 'no-cycles',
    comment: `two modules that need each other are one module; ${page}`,
    severity: 'error',
    from: {},
    to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
  },
  {
    name: 'rooms-are-entered-by-the-door',
    comment: `a room is entered through its index.ts (or src/api/names.ts, src/aws/catalogue.ts); deep imports stay inside the room; ${page}`,
    severity: 'error',
    from: { path: '^src/([^/]+)/', pathNot: '\\.test(ing)?\\.ts$' },
    to: {
      path: '^src/[^/]+/',
      pathNot: [
        '^src/$1/',
        '^src/[^/]+/index\\.ts$',
        `^${names.file}$`,
        `^${lightDoor}$`,
        `^(${wireDoors.join('|')})$`,
      ],
    },
  },
  {
    name: 'the-light-door-stays-light',
    comment: `${lightDoor} must not reach the AWS SDK; ${page}`,
    severity: 'error',
    from: { path: `^${lightDoor}$` },
    to: { path: 'node_modules/@(aws-sdk|smithy)/', reachable: true },
  },
];

for (const { room, imports, typesOf = [] } of rooms) {
  const allowed = [room, ...imports];
  const doors = names.rooms.includes(room) ? [`^${names.file}$`] : [];
  forbidden.push({
    name: `${room}-imports-only-${imports.join('-') || 'nothing'}`,
    comment: `src/${room} may import ${imports.join(', ') || 'no other room'}; ${page}`,
    severity: 'error',
    from: { path: `^src/${room}/`, pathNot: '\\.test(ing)?\\.ts$' },
    to: { path: '^src/', pathNot: [`^src/(${[...allowed, ...typesOf].join('|')})/`, ...doors] },
  });
  if (typesOf.length > 0) {
    forbidden.push({
      name: `${room}-imports-only-types-of-${typesOf.join('-')}`,
      comment: `src/${room} may use types of ${typesOf.join(', ')}, not values; ${page}`,
      severity: 'error',
      from: { path: `^src/${room}/`, pathNot: '\\.test(ing)?\\.ts$' },
      to: { path: `^src/(${typesOf.join('|')})/`, pathNot: doors, dependencyTypesNot: ['type-only'] },
    });
  }
}

for (const room of ['base', 'core', 'api', 'ports', 'state', 'view']) {
  forbidden.push({
    name: `${room}-is-pure`,
    comment: `src/${room} runs without Node; ${page}`,
    severity: 'error',
    from: { path: `^src/${room}/`, pathNot: '\\.test(ing)?\\.ts$' },
    to: { dependencyTypes: ['core'] },
  });
}

export default {
  forbidden,
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
