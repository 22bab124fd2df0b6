import {readFile, readlink, rename, symlink} from 'node:fs/promises';
import {basename, join} from 'node:path';
import type {DeploymentStatus} from 'mycli/backend';
import {readBundle, writeJson} from './bundles.js';
import {failure, systemCode} from './failure.js';
import {targetLayout, type ProjectLayout, type TargetLayout} from './layout.js';
import {namesIn, numbersIn, publish, withIncoming} from './numbered-folders.js';

/** `deployment.json`. */
export interface DeploymentRecord {
  readonly bundleId: number;
  readonly message: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly createdBy?: string | undefined;
  /** The target that ran the bundle, if it was promoted from there. */
  readonly promotedFrom?: string | undefined;
}

/** A record, and the number of its folder. */
export interface StoredDeployment extends DeploymentRecord {
  readonly deploymentId: number;
}

/** Deploys a bundle: records the deployment, then points `current` to the bundle. */
export async function deployBundle(
  project: ProjectLayout,
  targetSlug: string,
  bundleId: string | number,
  {createdBy, promotedFrom}: Pick<DeploymentRecord, 'createdBy' | 'promotedFrom'>,
): Promise<StoredDeployment> {
  const target = targetLayout(project, targetSlug);
  const bundle = await readBundle(project, bundleId);
  const record: DeploymentRecord = {
    ...{bundleId: bundle.bundleId, message: bundle.message, createdAt: new Date().toISOString()},
    ...{createdBy, promotedFrom},
  };
  const deploymentId = await withIncoming(project.incoming, async (folder) => {
    await writeJson(join(folder, 'deployment.json'), record);
    return publish(folder, target.deployments);
  });
  await switchToNewest(project, target);
  // Someone may have deleted it in the meantime.
  await readBundle(project, bundle.bundleId);
  return {...record, deploymentId};
}

/** Deploys the bundle that another target runs, and records where it came from. @throws when that runs another one. */
export async function promoteBundle(
  project: ProjectLayout,
  {bundleId, from, to}: {readonly bundleId: string | number; readonly from: string; readonly to: string},
  createdBy: string | undefined,
): Promise<StoredDeployment> {
  const running = await currentBundle(targetLayout(project, from));
  if (String(running) !== String(bundleId)) {
    const now = running === undefined ? 'nothing' : `bundle ${running}`;
    throw failure('ERR_REJECTED', `The target "${from}" runs ${now}, not bundle ${bundleId}.`);
  }
  return deployBundle(project, to, bundleId, {createdBy, promotedFrom: from});
}

/**
 * Points `current` to the bundle of the newest deployment. Of concurrent deployments, the one with the highest number
 * wins, whichever finishes last: each checks again after its switch.
 */
async function switchToNewest(project: ProjectLayout, target: TargetLayout): Promise<void> {
  for (;;) {
    const [newest] = await numbersIn(target.deployments);
    if (newest === undefined) return;
    const {bundleId} = await readDeployment(target, newest);
    await withIncoming(project.incoming, async (folder) => {
      const link = join(folder, 'current');
      // Relative to its destination, <project>/targets/<target>/current.
      await symlink(join('..', '..', String(bundleId)), link, 'dir');
      await rename(link, target.current);
    });
    if ((await numbersIn(target.deployments))[0] === newest) return;
  }
}

/** One deployment. @throws when none has this number. */
export async function readDeployment(target: TargetLayout, deploymentId: number): Promise<StoredDeployment> {
  try {
    const text = await readFile(join(target.deployments, String(deploymentId), 'deployment.json'), 'utf8');
    return {...(JSON.parse(text) as DeploymentRecord), deploymentId};
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    throw failure('ERR_REJECTED', `Deployment ${deploymentId} does not exist.`);
  }
}

/** All deployments of a target, newest first. */
export async function readDeployments(target: TargetLayout): Promise<readonly StoredDeployment[]> {
  const deployments: StoredDeployment[] = [];
  for (const number of await numbersIn(target.deployments)) deployments.push(await readDeployment(target, number));
  return deployments;
}

/** The newest deployment is in progress until `current` points to its bundle; every older one has ended. */
export function statusOf(
  {deploymentId, bundleId}: StoredDeployment,
  [newest]: readonly StoredDeployment[],
  current: number | undefined,
): DeploymentStatus {
  return deploymentId === newest?.deploymentId && bundleId !== current ? 'in_progress' : 'finished';
}

/** The bundle that `current` points to. */
export async function currentBundle(target: TargetLayout): Promise<number | undefined> {
  try {
    return Number(basename(await readlink(target.current)));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** The slugs of the targets that run each bundle. */
export async function bundlesInUse(project: ProjectLayout): Promise<ReadonlyMap<number, readonly string[]>> {
  const inUse = new Map<number, readonly string[]>();
  for (const targetSlug of await namesIn(project.targets)) {
    const bundleId = await currentBundle(targetLayout(project, targetSlug));
    if (bundleId !== undefined) inUse.set(bundleId, [...(inUse.get(bundleId) ?? []), targetSlug]);
  }
  return inUse;
}
