import {access, constants, stat} from 'node:fs/promises';
import {dirname, resolve} from 'node:path';
import type {Backend, BackendContext} from 'mycli/backend';
import {copyBundle, readBundle, readBundles, removeBundle, storeBundle} from './bundles.js';
import {
  bundlesInUse,
  currentBundle,
  deployBundle,
  promoteBundle,
  readDeployment,
  readDeployments,
  statusOf,
} from './deployments.js';
import {failure, toFailure} from './failure.js';
import {projectLayout, targetLayout, type ProjectLayout} from './layout.js';
import {optionsSchema, type DirectoryOptions} from './options.js';

type Context = BackendContext<DirectoryOptions>;

/** Stores bundles in a folder on this machine, or on a mounted file server. */
export const directoryBackend: Backend<DirectoryOptions> = {
  apiVersion: 1,
  name: 'directory',
  summary: 'Bundles in a folder, with a link to the deployed one',
  formats: ['v2', 'v1'],
  options: optionsSchema,
  required: ['directory'],

  /** There is no account but that of the operating system, and no password: it has access to the folder or not. */
  async verify({options: {directory}, configDirectory, env}) {
    if (directory === undefined) throw failure('ERR_OPTION_INVALID', 'The option "directory" is missing.');
    try {
      await access(await existing(resolve(configDirectory, directory)), constants.W_OK | constants.X_OK);
    } catch (error) {
      throw toFailure(error);
    }
    return {account: userOf({env})};
  },

  upload(bundle, context) {
    return inProject(context, async (project) => {
      const {unpack} = context.options;
      const stored = await storeBundle(project, bundle, {createdBy: userOf(context), unpack}, context);
      return {bundleId: stored.bundleId, raw: stored};
    });
  },

  deploy({bundleId, targetSlug}, context) {
    return inProject(context, async (project) => {
      const stored = await deployBundle(project, targetSlug, bundleId, {createdBy: userOf(context)});
      return {deployment: {deploymentId: stored.deploymentId, targetSlug}, status: 'finished', raw: stored};
    });
  },

  promote(request, context) {
    return inProject(context, async (project) => {
      const stored = await promoteBundle(project, request, userOf(context));
      const deployment = {deploymentId: stored.deploymentId, targetSlug: request.to};
      return {deployment, status: 'finished', raw: stored};
    });
  },

  getDeployment({deploymentId, targetSlug}, context) {
    return inProject(context, async (project) => {
      const target = targetLayout(project, String(targetSlug));
      const stored = await readDeployment(target, Number(deploymentId));
      return {status: statusOf(stored, await readDeployments(target), await currentBundle(target)), raw: stored};
    });
  },

  listBundles(_range, context) {
    return inProject(context, async (project) => {
      const stored = await readBundles(project);
      const inUse = await bundlesInUse(project);
      const items = stored.map(({bundleId, message, createdAt, createdBy, sha256, size, format}) => {
        const inUseBy = inUse.get(bundleId) ?? [];
        const metadata = {format, size};
        return {bundleId, message, createdAt, createdBy, sha256, status: 'ready' as const, inUseBy, metadata};
      });
      return {items, total: stored.length, raw: stored};
    });
  },

  listDeployments({targetSlug}, context) {
    return inProject(context, async (project) => {
      const target = targetLayout(project, targetSlug);
      const stored = await readDeployments(target);
      const current = await currentBundle(target);
      const items = stored.map((deployment) => {
        const {deploymentId, promotedFrom, ...rest} = deployment;
        const description = promotedFrom === undefined ? undefined : `Promoted from ${promotedFrom}`;
        const status = statusOf(deployment, stored, current);
        return {...rest, description, deployment: {deploymentId, targetSlug}, status};
      });
      return {items, total: stored.length, raw: stored};
    });
  },

  download(request, context) {
    return inProject(context, (project) => copyBundle(project, request, context));
  },

  deleteBundle({bundleId}, context) {
    return inProject(context, async (project) => {
      const {bundleId: number} = await readBundle(project, bundleId);
      const targets = (await bundlesInUse(project)).get(number);
      if (targets) {
        throw failure(
          'ERR_REJECTED',
          `Bundle ${number} is deployed to ${targets.join(', ')}. Deploy another bundle there first.`,
        );
      }
      await removeBundle(project, number);
    });
  },
};

/** Runs something on the project of `context`, and converts system errors to errors of mycli. */
async function inProject<Result>(context: Context, work: (project: ProjectLayout) => Promise<Result>): Promise<Result> {
  context.signal.throwIfAborted();
  try {
    return await work(projectLayout(context));
  } catch (error) {
    throw toFailure(error);
  }
}

/** The folder, or the nearest one above it that exists: the first upload creates it. */
async function existing(folder: string): Promise<string> {
  const isThere = await stat(folder).then(
    () => true,
    () => false,
  );
  return isThere ? folder : existing(dirname(folder));
}

function userOf({env}: Pick<Context, 'env'>): string | undefined {
  return env['USER'] ?? env['USERNAME'];
}
