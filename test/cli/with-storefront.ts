import {execFile} from 'node:child_process';
import {cp, mkdir, mkdtemp, realpath, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {startLocalRuntime, type LocalRuntime} from '../../src/testing.js';
import {runtimeEnvironment} from './runtime-environment.js';

/** A built copy of examples/storefront, a local runtime, and the environment of a user that knows it. */
export interface StorefrontBench extends AsyncDisposable {
  /** Everything of the bench is below it. */
  readonly root: string;
  readonly project: string;
  readonly runtime: LocalRuntime;
  /** Settings for both backends; the legacy one serves. */
  readonly env: Readonly<Record<string, string>>;
}

const storefront = fileURLToPath(new URL('../../examples/storefront', import.meta.url));

/** Makes a bench; everything is removed at its end. */
export async function createStorefrontBench(): Promise<StorefrontBench> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'mycli-storefront-')));
  const [project, home] = [join(root, 'storefront'), join(root, 'home')];
  await mkdir(home);
  await cp(storefront, project, {recursive: true});
  await promisify(execFile)(process.execPath, [join(project, 'build.mjs')]);
  const runtime = await startLocalRuntime({deploymentSeconds: 0});
  const env = {HOME: home, MYCLI_RUNTIME_BACKEND: 'legacy', ...runtimeEnvironment(runtime)};
  return {
    root,
    project,
    runtime,
    env,
    async [Symbol.asyncDispose]() {
      await runtime.close();
      await rm(root, {recursive: true, force: true});
    },
  };
}
