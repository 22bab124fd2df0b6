import assert from 'node:assert/strict';
import {Writable} from 'node:stream';
import type {HostBackend} from '../backends/built-in.js';
import type {Bundle, BundleFormat, BundleId, DeploymentRef} from '../backends/contract.js';
import type {CallOptions, Subject} from './subject.js';

/** What an operation is tried on. */
export interface Prepared {
  readonly bundle: Bundle;
  readonly bundleId: BundleId;
  /** Only for operations on a deployment. */
  readonly deployment?: DeploymentRef | undefined;
}

/** Something that the host asks a backend for. */
export interface Operation {
  readonly name: string;
  /** The member that does it. */
  readonly needs: keyof HostBackend;
  /** Whether it changes something. */
  readonly writes?: true;
  /** What it is tried on: nothing but a bundle that is not uploaded, one that is, or one that runs on the target. */
  readonly on: 'nothing' | 'bundle' | 'deployment';
  /** @default the preferred format of the backend */
  readonly format?: BundleFormat;
  run(subject: Subject, prepared: Prepared, options?: CallOptions): Promise<unknown>;
}

const limit = 10;

/** The operations besides uploads. */
export const operations: readonly Operation[] = [
  {name: 'verify', needs: 'verify', on: 'nothing', run: (subject, _, options) => subject.verify(options)},
  {
    name: 'deploy',
    needs: 'deploy',
    on: 'bundle',
    writes: true,
    run: (subject, {bundleId}, options) =>
      subject.call('deploy', {bundleId, targetSlug: subject.targetSlug}, {...options, targetSlug: subject.targetSlug}),
  },
  {
    name: 'promote',
    needs: 'promote',
    on: 'deployment',
    writes: true,
    run: (subject, {bundleId}, options) => promote(subject, bundleId, options),
  },
  {
    name: 'wait',
    needs: 'getDeployment',
    on: 'deployment',
    run: (subject, prepared, options) => subject.call('getDeployment', deploymentOf(prepared), options),
  },
  {
    name: 'list',
    needs: 'listBundles',
    on: 'bundle',
    run: (subject, _, options) => subject.call('listBundles', {limit}, options),
  },
  {
    name: 'history',
    needs: 'listDeployments',
    on: 'deployment',
    run: (subject, _, options) => subject.call('listDeployments', {limit, targetSlug: subject.targetSlug}, options),
  },
  {
    name: 'targets',
    needs: 'listTargets',
    on: 'deployment',
    run: (subject, _, options) => subject.call('listTargets', {limit}, options),
  },
  {
    name: 'logs',
    needs: 'readLogs',
    on: 'deployment',
    run: (subject, prepared, options) => subject.call('readLogs', {deployment: deploymentOf(prepared)}, options),
  },
  {
    name: 'download',
    needs: 'download',
    on: 'bundle',
    run: (subject, {bundleId}, options) => subject.call('download', {bundleId, writeTo: sink()}, options),
  },
  {
    name: 'delete',
    needs: 'deleteBundle',
    on: 'bundle',
    writes: true,
    run: (subject, {bundleId}, options) => subject.call('deleteBundle', {bundleId}, options),
  },
];

/** Promotes a bundle from the target to the other one. */
export function promote(subject: Subject, bundleId: BundleId, options?: CallOptions) {
  return subject.call('promote', {bundleId, from: subject.targetSlug, to: subject.otherTarget}, options);
}

/** An upload in a format; `streamed`: of a bundle that is packed while it is sent. */
export function uploadOperation(format: BundleFormat, {streamed = false} = {}): Operation {
  return {
    name: streamed ? `uploadStream (${format})` : `upload (${format})`,
    needs: streamed ? 'uploadStream' : 'upload',
    on: 'nothing',
    writes: true,
    format,
    run: (subject, {bundle}, options) => subject.upload(bundle, {...options, streamed, stateless: true}),
  };
}

/** Prepares what an operation is tried on. */
export async function prepare(subject: Subject, {on, format}: Pick<Operation, 'on' | 'format'>): Promise<Prepared> {
  const {formats, deploy, deploysOnUpload = []} = subject.backend;
  const bundle = await subject.makeBundle({format});
  if (on === 'nothing') return {bundle, bundleId: ''};
  const canDeploy = deploy !== undefined || formats.slice(0, 1).some((one) => deploysOnUpload.includes(one));
  if (!canDeploy || on === 'bundle') return {bundle, bundleId: await subject.upload(bundle)};
  return {bundle, ...(await subject.pushed())};
}

/** Uses everything that a backend can do, once. */
export async function useEverything(subject: Subject): Promise<void> {
  const able = operations.filter(({needs}) => subject.backend[needs] !== undefined);
  await subject.check();
  const [first, ...others] = able.filter(({on}) => on === 'deployment');
  if (first) {
    const prepared = await prepare(subject, first);
    for (const operation of [first, ...others]) await operation.run(subject, prepared);
  }
  // Nothing waits for a deployment of these: what follows is not sent to its target.
  for (const operation of able.filter(({on}) => on !== 'deployment')) {
    await operation.run(subject, await prepare(subject, operation));
  }
}

function deploymentOf({deployment}: Prepared): DeploymentRef {
  assert.ok(deployment, 'This case requires a deployment, and the backend does not deploy.');
  return deployment;
}

/** Something that swallows an archive. */
export function sink(): Writable {
  return new Writable({write: (_piece, _encoding, done) => done()});
}
