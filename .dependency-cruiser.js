/**
 * Which folder of src/ may import which: the table of docs/ARCHITECTURE.md, checked by `npm run layers`.
 * `may`: any import. `types`: `import type` only. A layer may always import itself and `text`.
 */
const layers = {
  text: {path: 'src/text/'},
  errors: {path: 'src/errors/'},
  version: {path: 'src/version[.]ts'},
  config: {path: 'src/config[.]ts'},
  modules: {path: 'src/modules/', may: ['files', 'errors']},
  files: {path: 'src/files/', may: ['errors']},
  frameworks: {path: 'src/frameworks/', may: ['errors']},
  projects: {path: 'src/projects/', may: ['frameworks', 'files', 'errors']},
  settings: {path: 'src/settings/', may: ['retryPolicy', 'errors'], types: ['config']},
  bundle: {
    path: 'src/bundle/',
    may: ['settings', 'frameworks', 'projects', 'modules', 'files', 'errors'],
    types: ['config'],
  },
  http: {path: 'src/http/', may: ['errors']},
  // What the backends are called.
  names: {path: 'src/backends/names[.]ts'},
  contract: {
    path: 'src/backends/(contract/|(contract|members|host-backend)[.]ts)',
    may: ['errors'],
    types: ['bundle', 'config', 'http'],
  },
  wire: {path: 'src/wire/', may: ['settings']},
  // How the two built-in backends send requests and read answers.
  answers: {
    path: 'src/backends/(answers|target-members)[.]ts',
    may: ['contract', 'names', 'wire', 'settings', 'http', 'errors'],
    types: ['bundle', 'config'],
  },
  api: {path: 'src/backends/api/', may: ['contract', 'names', 'answers', 'wire', 'http', 'errors'], types: ['bundle']},
  legacy: {
    path: 'src/backends/legacy/',
    may: ['contract', 'names', 'answers', 'wire', 'http', 'errors'],
    types: ['bundle'],
  },
  backends: {
    path: 'src/backends/(?!api/|legacy/|contract/|(contract|members|host-backend|names|answers|target-members)[.]ts)',
    may: ['contract', 'names', 'answers', 'wire', 'api', 'legacy', 'http', 'errors'],
    types: ['bundle', 'config'],
  },
  operations: {
    path: 'src/operations/',
    may: ['settings', 'bundle', 'files', 'anyBackend', 'probe', 'retryPolicy', 'errors'],
    types: ['config', 'http'],
  },
  pipelines: {
    path: 'src/pipelines/',
    may: ['operations', 'bundle', 'names', 'retryPolicy', 'errors'],
    types: ['anyBackend', 'files', 'http'],
  },
  cli: {
    path: 'src/cli/',
    may: [
      'settings',
      'modules',
      'projects',
      'bundle',
      'files',
      'httpSettings',
      'retryPolicy',
      'limits',
      'identity',
      'eventFeed',
      'outcome',
      'safety',
      'anyBackend',
      'errors',
      'version',
      'config',
    ],
    types: ['http', 'operations', 'pipelines', 'localRuntime'],
  },
  commands: {
    path: 'src/commands/(?!runtime/)',
    may: ['cli', 'pipelines', 'operations', 'names', 'errors'],
    types: ['settings', 'anyBackend', 'bundle', 'http'],
  },
  runtimeCommands: {path: 'src/commands/runtime/', may: ['cli', 'testing', 'errors'], types: ['http']},
  conformance: {path: 'src/conformance/', may: ['anyBackend', 'bundle', 'files', 'http', 'errors']},
  localRuntime: {
    path: 'src/local-runtime/',
    may: ['settings', 'wire', 'anyBackend', 'bundle', 'frameworks', 'projects', 'files', 'http', 'errors'],
  },
  testing: {path: 'src/testing[.]ts', may: ['conformance', 'localRuntime']},
  index: {
    path: 'src/(index|library)[.]ts',
    may: [
      'index',
      'pipelines',
      'settings',
      'operations',
      'bundle',
      'files',
      'anyBackend',
      'http',
      'errors',
      'version',
      'config',
    ],
  },
};

/** Names for a part of a layer, or for several. */
const groups = {
  anyBackend: 'src/backends/',
  // Credentials, addresses and the masking of secrets: what settings are made into. Not the client.
  httpSettings: 'src/http/(auth/|origin[.]ts|redact[.]ts|connection/proxy[.]ts)',
  // The words for a retry, which a log and a terminal share, and the defaults, which settings share.
  retryPolicy: 'src/http/(rate-limit/policy|time-limits)[.]ts',
  // Looks at what was deployed, without credentials.
  probe: 'src/http/probe[.]ts',
  // What settings and operations have in common.
  limits: 'src/operations/options[.]ts',
  // Which events a run has, the same on the command line and in the library.
  eventFeed: 'src/pipelines/event-feed[.]ts',
  // What is told of a run that fails, also to plugins.
  outcome: 'src/pipelines/outcome[.]ts',
  // Whether a service accepts credentials.
  identity: 'src/operations/identify[.]ts',
  // What `MYCLI_SAFETY` says.
  safety: 'src/operations/guard/safety[.]ts',
};

/** npm packages that one place owns; everyone else asks that place. */
const owners = {
  got: {owner: 'src/http/'},
  archiver: {owner: 'src/bundle/'},
  'fast-glob': {owner: 'src/bundle/'},
  jiti: {owner: 'src/modules/'},
  listr2: {owner: 'src/pipelines/'},
  '@oclif/core': {owner: 'src/(cli/command|commands)/', types: '^src/cli/(?!command/)'},
  busboy: {owner: 'src/local-runtime/'},
  hono: {owner: 'src/local-runtime/'},
  '@hono/node-server': {owner: 'src/local-runtime/'},
  send: {owner: 'src/local-runtime/'},
  '@valibot/to-json-schema': {owner: 'src/local-runtime/'},
};

const anyOf = (names) => names.map((name) => `^${groups[name] ?? layers[name].path}`);

const layerRules = Object.entries(layers).flatMap(([name, {path, may = [], types = []}]) => [
  {
    name: `layer-${name}`,
    severity: 'error',
    from: {path: `^${path}`},
    to: {path: '^src/', pathNot: [`^${path}`, ...anyOf(['text', ...may, ...types])]},
  },
  ...(types.length === 0
    ? []
    : [
        {
          name: `types-only-${name}`,
          severity: 'error',
          from: {path: `^${path}`},
          to: {path: anyOf(types), pathNot: [`^${path}`, ...anyOf(may)], dependencyTypesNot: ['type-only']},
        },
      ]),
]);

const ownerRules = Object.entries(owners).flatMap(([name, {owner, types}]) => {
  const to = {path: `(^|/)node_modules/${name}/`};
  return [
    {
      name: `owner-${name}`,
      severity: 'error',
      from: {path: '^src/', pathNot: [`^${owner}`, ...(types ? [types] : [])]},
      to,
    },
    ...(types
      ? [
          {
            name: `types-only-${name}`,
            severity: 'error',
            from: {path: types},
            to: {...to, dependencyTypesNot: ['type-only']},
          },
        ]
      : []),
  ];
});

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...layerRules,
    ...ownerRules,
    {name: 'no-circular', severity: 'error', from: {}, to: {circular: true}},
    {name: 'not-to-unresolvable', severity: 'error', from: {}, to: {couldNotResolve: true}},
  ],
  options: {
    doNotFollow: {path: 'node_modules'},
    tsPreCompilationDeps: true,
    tsConfig: {fileName: 'tsconfig.json'},
    enhancedResolveOptions: {exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types']},
  },
};
