import type {Framework} from './framework.js';

const program = {
  isBase: true,
  isProgram: true,
  static: false,
  buildDirectory: 'dist',
  public: ['public', 'client', 'static'],
  needs: 'an `ssr.js` or `ssr.mjs` that exports its app, its packages in the build',
} as const;
const nest = {
  ...program,
  name: 'NestJS',
  packages: ['@nestjs/core'],
  buildCommand: 'nest build',
  configFile: /^nest-cli\.json$/,
  marks: ['main.js'],
  entries: ['ssr.mjs', 'ssr.js', 'main.js'],
};
const programEntries = ['ssr', 'server', 'main', 'index', 'app'].flatMap((name) => [
  `${name}.js`,
  `${name}.mjs`,
  `${name}.cjs`,
]);

/** What fastify-cli starts, which is no app but a part of one. */
const fastifyPlugin = {
  text: /@fastify\/autoload|(?:function\s*(?:\w+\s*)?|=\s*(?:async\s*)?)\(\s*(?:fastify|app|server|instance)\s*,/,
  // It makes or starts a server: fastify(), Fastify.default(), app.listen().
  unless: /\blisten\(|\b[Ff]astify\w*(?:\.default)?\)?\(/,
  problem: 'The entry exports a plugin of Fastify, which fastify-cli starts, not a server.',
  advice:
    "Add an ssr.mjs to the build that registers it: import Fastify from 'fastify'; import app from './app.js'; const server = " +
    'Fastify(); server.register(app); await server.listen({port: process.env.PORT}). Runtime starts a program that ' +
    'listens, or serves the app or the handler that ssr.mjs exports as default',
};

/** Programs of a project's own, which serve what is in their public folder. */
export const programs: readonly Framework[] = [
  {id: 'nest', ...nest},
  {id: 'nest-monorepo', ...nest, variant: 'in a monorepo', buildDirectory: 'dist/apps/*'},
  ...(['Express', 'Fastify', 'Hono', 'Koa'] as const).map((name) => ({
    id: name.toLowerCase(),
    name,
    packages: [name.toLowerCase()],
    ...program,
    marks: programEntries,
    entries: programEntries,
    ...(name === 'Fastify' && {unfitEntry: fastifyPlugin}),
  })),
];
