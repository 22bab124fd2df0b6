import assert from 'node:assert/strict';
import {Writable} from 'node:stream';
import type {HostBackend} from '../backends/built-in.js';
import type {AnyBackend, Bundle, BundleFormat, BundleId, DeploymentRef} from '../backends/contract.js';
import {
  checkDeployment,
  deleteBundle,
  deploy,
  download,
  fromJson,
  listBundles,
  listDeployments,
  listTargets,
  promote,
  pushToTarget,
  readLogPart,
  verify,
  waitUntilFinished,
} from './steps.js';
import type {Subject} from './subject.js';

/** What an operation is tried on. */
export interface Prepared {
  readonly bundle: Bundle;
  readonly bundleId: BundleId;
  /** Undefined unless the backend deploys, and the operation needs it. */
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
  run(subject: Subject, prepared: Prepared, signal?: AbortSignal): Promise<unknown>;
}

const page = {limit: 10, offset: 0};

/** The operations besides uploads. */
const operations: readonly Operation[] = [
  {name: 'verify', needs: 'verify', on: 'nothing', run: (subject, _, signal) => verify(subject, {signal})},
  {
    ...{name: 'deploy', needs: 'deploy', on: 'bundle', writes: true},
    run: (subject, {bundleId}, signal) => deploy(subject, bundleId, {signal}),
  },
  {
    ...{name: 'promote', needs: 'promote', on: 'deployment', writes: true},
    run: (subject, {bundleId}, signal) => promote(subject, bundleId, {signal}),
  },
  {
    ...{name: 'wait', needs: 'getDeployment', on: 'deployment'},
    run: (subject, prepared, signal) => checkDeployment(subject, deploymentOf(prepared), {signal}),
  },
  {
    ...{name: 'list', needs: 'listBundles', on: 'bundle'},
    run: (subject, _, signal) => listBundles(subject, page, {signal}),
  },
  {
    ...{name: 'history', needs: 'listDeployments', on: 'deployment'},
    run: (subject, _, signal) => listDeployments(subject, page, {signal}),
  },
  {
    ...{name: 'targets', needs: 'listTargets', on: 'deployment'},
    run: (subject, _, signal) => listTargets(subject, page, {signal}),
  },
  {
    ...{name: 'logs', needs: 'readLogs', on: 'deployment'},
    run: (subject, prepared, signal) => readLogPart(subject, {deployment: deploymentOf(prepared)}, {signal}),
  },
  {
    ...{name: 'download', needs: 'download', on: 'bundle'},
    run: (subject, {bundleId}, signal) =>
      download(subject, {bundleId, writeTo: new Writable({write: (_piece, _encoding, done) => done()})}, signal),
  },
  {
    ...{name: 'delete', needs: 'deleteBundle', on: 'bundle', writes: true},
    run: (subject, {bundleId}, signal) => deleteBundle(subject, bundleId, {signal}),
  },
];

/** What a backend can do besides uploading. */
export function operationsOf(backend: AnyBackend): readonly Operation[] {
  return operations.filter(({needs}) => Reflect.get(backend, needs) !== undefined);
}

/** An upload in a format; `streamed`: of a bundle that is packed while it is sent. */
export function uploadOperation(format: BundleFormat, {streamed = false} = {}): Operation {
  return {
    name: streamed ? `uploadStream (${format})` : `upload (${format})`,
    ...{needs: streamed ? 'uploadStream' : 'upload', on: 'nothing', writes: true},
    run: (subject, {bundle}, signal) => subject.upload(bundle, {streamed, signal, stateless: true}),
  };
}

/** Prepares what an operation is tried on. */
export async function prepare(subject: Subject, {on}: Operation, format?: BundleFormat): Promise<Prepared> {
  const {formats, deploy: member, deploysOnUpload = []} = subject.backend;
  const bundle = await subject.makeBundle(format);
  if (on === 'nothing') return {bundle, bundleId: ''};
  const canDeploy = member !== undefined || formats.slice(0, 1).some((one) => deploysOnUpload.includes(one));
  if (!canDeploy || on === 'bundle') return {bundle, bundleId: await subject.upload(bundle)};
  const pushed = await pushToTarget(subject);
  if (subject.backend.getDeployment) await waitUntilFinished(subject, pushed.deployment);
  return {bundle, ...pushed, deployment: fromJson(pushed.deployment)};
}

function deploymentOf({deployment}: Prepared): DeploymentRef {
  assert.ok(deployment, 'This case requires a deployment, and the backend does not deploy.');
  return deployment;
}
