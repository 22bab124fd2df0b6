/** Where a build for another host is: paths in the project, and in the build. */
export const otherHosts: readonly {
  readonly host: string;
  readonly marks: readonly string[];
  readonly inBuild?: readonly string[];
  readonly advice?: string;
}[] = [
  {host: 'Vercel', marks: ['.vercel/output/config.json']},
  {host: 'Netlify', marks: ['.netlify/functions-internal', '.netlify/v1/functions']},
  // The plugin of Vite names the folder of a Worker after it.
  {host: 'Cloudflare', marks: ['.open-next'], inBuild: ['_worker.js', '*/wrangler.json']},
  {host: 'AWS Amplify', marks: ['.amplify-hosting']},
  {
    host: 'Deno',
    marks: ['_fresh'],
    advice: 'The Runtime runs Node.js only. Push a site that is built as pages, or a server for Node.js',
  },
];

/** What a build leaves out, because only another host runs it: a path in the project, and what has to be beside it. */
export const otherParts: readonly {readonly host: string; readonly path: string; readonly beside?: RegExp}[] = [
  {host: 'Netlify', path: 'netlify/functions'},
  {host: 'Netlify', path: 'netlify/edge-functions'},
  {host: 'Vercel', path: 'api', beside: /^vercel\.json$/},
  {host: 'Firebase', path: 'functions', beside: /^firebase\.json$/},
  {host: 'Cloudflare', path: 'functions', beside: /^wrangler\.(?:toml|jsonc?)$/},
  ...['toml', 'json', 'jsonc'].map((ending) => ({host: 'Cloudflare', path: `wrangler.${ending}`})),
  {host: 'Gatsby', path: 'src/api', beside: /^gatsby-(?:config|node)\.[cm]?[jt]s$/},
  {host: 'Redwood', path: 'api', beside: /^redwood\.toml$/},
  {host: 'Redwood', path: '../api', beside: /^index\.html$|^vite\.config\./},
];
