// The client that others push with, as published, without the build tools that it brings: see test/clients/run.sh.
import {cp, mkdir, rename, rm, writeFile} from 'node:fs/promises';
import path from 'node:path';
import type {Command} from './measure.js';
import {cached, npm} from './real-trees.js';

export const pwaKitDev = 'pwa-kit-dev 3.20.0';

const clients = path.resolve(import.meta.dirname, '../test/clients');
const flags = ['--no-package-lock', '--legacy-peer-deps', '--omit=dev', '--omit=optional', '--loglevel=error'];

/** Installs it into the user's cache folder, once. Resolves to its folder there. */
export function installPwaKitDev(env: NodeJS.ProcessEnv): Promise<string> {
  return cached(pwaKitDev, env, async (folder) => {
    console.error(`${pwaKitDev}: installing, once ...`);
    const work = `${folder}.work`;
    await rm(work, {recursive: true, force: true});
    await mkdir(work, {recursive: true});
    for (const name of ['nothing', 'pwa-kit-dev'])
      await cp(path.join(clients, name), path.join(work, name), {recursive: true});
    await npm(path.join(work, 'pwa-kit-dev'), 'install', ...flags);
    await rename(work, folder);
  });
}

/** Its push of the folder `build` in `project`, which becomes one of no packages, as it asks npm for those. */
export async function pushWithPwaKitDev(installed: string, project: string, origin: string): Promise<Command> {
  const mobify = {ssrEnabled: true, ssrOnly: ['ssr.js'], ssrShared: ['static/**/*'], ssrParameters: {}};
  await writeFile(path.join(project, 'package.json'), JSON.stringify({name: 'bench', version: '1.0.0', mobify}));
  const script = path.join(installed, 'pwa-kit-dev/node_modules/@salesforce/pwa-kit-dev/bin/pwa-kit-dev.js');
  return {
    argv: [process.execPath, script, 'push', '-b', 'build', '-s', 'bench', '-m', 'bench'],
    cwd: project,
    env: {
      HOME: project,
      CLOUD_API_BASE: origin,
      MRT_USER: 'me@shop.example',
      MRT_API_KEY: 'none',
      npm_config_offline: 'true',
      npm_config_update_notifier: 'false',
    },
  };
}
