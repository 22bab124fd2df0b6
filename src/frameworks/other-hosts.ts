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
