import type {Framework} from './framework.js';
import {everythingIn} from './server-files.js';

/** Frameworks that have a client of their own for the Runtime: a push sends what it would send. */
export const ownClients: readonly Framework[] = [
  {
    id: 'storefront-next',
    name: 'Storefront Next',
    packages: ['/storefront-next-dev', '/storefront-next-runtime'],
    buildCommand: 'sfnext build',
    buildDirectory: 'build',
    marks: ['server'],
    static: false,
    lists: {
      ssrOnly: [
        ...everythingIn('server/', 3),
        'package.json',
        'loader.js',
        '{streamingHandler,ssr}.{js,mjs,cjs}',
        '{streamingHandler,ssr}.{js,mjs,cjs}.map',
        '!static/**/*',
        'sfnext-server-*.mjs',
        'sfnext-server-*.mjs.map',
      ],
      ssrShared: [
        'client/**/*',
        'static/**/*',
        ...['css', 'png', 'jpg', 'jpeg', 'gif', 'svg', 'ico', 'woff', 'woff2', 'ttf', 'eot'].map(
          (type) => `**/*.${type}`,
        ),
      ],
    },
    ownSettings: 'config.server',
    v2: {
      configPath: '.mrt/config.json',
      matchMode: 'ignore_missing',
      parameterNames: {ssrFunctionNodeVersion: 'SSRFunctionNodeVersion', envBasePath: 'EnvBasePath'},
    },
    ignore: ['*.stories.ts*', '*-snapshot.tsx', '__mocks__/', '__snapshots__/', '/.storybook/', '/storybook-static/'],
    parameters: {ssrFunctionNodeVersion: '24.x'},
    installed: ['@salesforce/storefront-next-dev'],
    entries: ['streamingHandler.mjs', 'streamingHandler.js', 'ssr.mjs', 'ssr.js'],
    publicFolder: 'client',
    needs: '`PUBLIC__app__commerce__api__shortCode`, `...__organizationId` and `...__clientId` in its environment',
  },
  {
    id: 'pwa-kit',
    name: 'PWA Kit',
    packages: ['/pwa-kit-dev', '/pwa-kit-react-sdk', '/retail-react-app'],
    buildCommand: 'pwa-kit-dev build',
    buildDirectory: 'build',
    marks: ['ssr.js'],
    static: false,
    lists: {
      ssrOnly: ['ssr.js', 'ssr.js.map', 'config/**', ...everythingIn('node_modules/', 3)],
      ssrShared: ['static/**/*', '**/*.js', '**/*.js.map', '**/*.json'],
    },
    sourceMaps: true,
    ownSettings: 'pwa-kit',
    installed: ['@salesforce/pwa-kit-react-sdk', '@salesforce/pwa-kit-runtime', '@salesforce/pwa-kit-dev'],
    listsOverrides: true,
    entries: ['ssr.js'],
    linkToBuild: 'build',
    assetPrefix: /^mobify\/bundle\/[^/]+\//,
    // Without them, it starts a development server.
    environment: {
      AWS_LAMBDA_FUNCTION_NAME: 'local',
      MOBIFY_PROPERTY_ID: 'local',
      DEPLOY_TARGET: 'local',
      BUNDLE_ID: 'local',
      EXTERNAL_DOMAIN_NAME: 'localhost',
    },
  },
];
