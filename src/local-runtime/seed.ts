import {readdir, rm} from 'node:fs/promises';
import path from 'node:path';
import {PassThrough} from 'node:stream';
import {packBundle, planBundle} from '../bundle/index.js';
import {checkSlug} from '../settings/option-problems.js';
import {v2Defaults} from '../settings/schemas.js';
import {createError, isRuntimeCliError} from '../errors/index.js';
import {asSentence} from '../errors/sentence.js';
import {reasonOf, systemCode} from '../errors/system-failure.js';
import {HttpFailure} from './answer.js';
import type {RuntimeContext} from './context.js';
import {storeStream} from './store/data-folder.js';
import {Deployments} from './store/deployments.js';
import {checkV2Bundle} from './upload/check-bundle.js';
import {keepBundle} from './upload/receive-bundle.js';

/** Who has made a seeded bundle, in lists. */
const createdBy = 'seed';

/**
 * Bundles each folder `PROJECT/TARGET` in `directory`, and deploys it to that target. Targets that have a deployment
 * already keep it.
 * @throws RuntimeCliError `ERR_OPTION_INVALID` for a folder that cannot be bundled, and if there is none.
 */
export async function seed(directory: string, context: RuntimeContext): Promise<void> {
  const builds = await findBuilds(directory);
  const seeded = builds.filter(({project, target}) => context.store.deployments(project, target).length === 0);
  for (const build of seeded) {
    await deploy(build, context).catch((error: unknown) => {
      if (!isRuntimeCliError(error) && !(error instanceof HttpFailure)) throw error;
      throw unusable(build.folder, error.message, error);
    });
  }
}

/** A build, and the target that its path names. */
interface SeededBuild {
  readonly project: string;
  readonly target: string;
  /** Absolute. */
  readonly folder: string;
}

async function findBuilds(directory: string): Promise<readonly SeededBuild[]> {
  const builds: SeededBuild[] = [];
  try {
    for (const project of await foldersIn(directory)) {
      for (const target of await foldersIn(path.join(directory, project))) {
        builds.push({project, target, folder: path.join(directory, project, target)});
      }
    }
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    throw unusable(directory, reasonOf(error), error);
  }
  for (const {project, target, folder} of builds) {
    const problem = checkSlug('project', project) ?? checkSlug('target', target);
    if (problem) throw unusable(folder, `the slug of the ${problem.option} ${problem.message}`);
  }
  if (builds.length === 0) throw unusable(directory, 'it has no folder PROJECT/TARGET with a build');
  return builds;
}

async function foldersIn(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, {withFileTypes: true});
  return entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({name}) => name)
    .sort();
}

function unusable(directory: string, why: string, cause?: unknown): Error {
  return createError('ERR_OPTION_INVALID', asSentence(`The runtime cannot be seeded from ${directory}: ${why}`), {
    suggestions: isRuntimeCliError(cause)
      ? cause.suggestions
      : [`Put a build into a folder of it, such as ${path.join(directory, 'my-shop', 'staging')}.`],
    cause,
  });
}

async function deploy({project, target, folder}: SeededBuild, context: RuntimeContext): Promise<void> {
  const {store, limits, now} = context;
  const plan = await planBundle({
    format: 'v2',
    cwd: folder,
    env: {},
    now,
    projectSlug: project,
    projectDirectory: folder,
    buildDirectory: folder,
    message: `Seeded from ${path.join(project, target)}`,
    ...((await hasServer(folder)) ? {} : {static: true}),
  });
  const temporary = await store.createTemporaryFolder();
  try {
    const archive = path.join(temporary, 'archive');
    const packed = new PassThrough();
    const [stored] = await Promise.all([storeStream(packed, archive), packBundle(plan, packed)]);
    const checked = await checkV2Bundle(archive, {...v2Defaults, limits});
    const received = {stored, checked, bundle: {projectSlug: project, format: 'v2', message: plan.message}} as const;
    const bundle = await keepBundle(received, {folder: temporary, createdBy}, context);
    // It runs as soon as the runtime does.
    const deployments = new Deployments({...context, seconds: 0});
    await deployments.start({bundle, targetSlug: target, createdBy, route: 'deploy'});
  } finally {
    await rm(temporary, {recursive: true, force: true});
  }
}

/** Whether the build has a server, which a static site lacks. */
async function hasServer(folder: string): Promise<boolean> {
  const names = await readdir(folder);
  return ['ssr.js', 'ssr.mjs', 'server'].some((name) => names.includes(name));
}
