/** Another host, and what is its own in a project and in a build. */
export interface OtherHost {
  readonly host: string;
  /** Where a build for it is in a project. */
  readonly marks?: readonly string[];
  /** What its builds have. */
  readonly inBuild?: readonly string[];
  readonly advice?: string;
  /** What only it runs, so that no build has it: paths in a project, and a file or package of the host beside them. */
  readonly parts?: readonly {readonly path: string; readonly beside?: RegExp}[];
}

export const otherHosts: readonly OtherHost[] = [
  {
    host: 'Netlify',
    marks: ['.netlify/functions-internal', '.netlify/v1/functions'],
    parts: [{path: 'netlify/functions'}, {path: 'netlify/edge-functions'}],
  },
  {
    host: 'Vercel',
    marks: ['.vercel/output/config.json'],
    parts: [{path: 'api', beside: /^vercel(?:\.json)?$/}],
  },
  {host: 'Firebase', parts: [{path: 'functions', beside: /^firebase\.json$|^firebase-functions$/}]},
  {
    host: 'Cloudflare',
    marks: ['.open-next'],
    // The plugin of Vite names the folder of a Worker after it.
    inBuild: ['_worker.js', '*/wrangler.json'],
    parts: [
      {path: 'functions', beside: /^wrangler(?:\.(?:toml|jsonc?))?$/},
      {path: 'wrangler.toml'},
      {path: 'wrangler.json'},
      {path: 'wrangler.jsonc'},
    ],
  },
  {host: 'AWS Amplify', marks: ['.amplify-hosting']},
  {
    host: 'Deno',
    marks: ['_fresh'],
    advice: 'Runtime runs Node.js only. Push a site that is built as pages, or a server for Node.js',
  },
  {host: 'Gatsby', parts: [{path: 'src/api', beside: /^gatsby$/}]},
  {
    host: 'Redwood',
    parts: [
      {path: 'api', beside: /^redwood\.toml$|^@redwoodjs\/core$/},
      {path: '../api', beside: /^index\.html$|^vite\.config\./},
    ],
  },
];
