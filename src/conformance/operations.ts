import {Writable} from 'node:stream';
import type {HostBackend} from '../backends/built-in.js';
import {backendCalls} from '../backends/call.js';
import type {Bundle, BundleFormat, BundleId, DeploymentRef} from '../backends/contract.js';
import type {Called, CallOptions, RequestOf, Subject} from './subject.js';

/** What an operation is tried on. */
export interface Prepared {
  readonly bundle: Bundle;
  readonly bundleId: BundleId;
  readonly deployment?: DeploymentRef;
}

/** Something that the host asks a backend for. */
export interface Operation {
  readonly name: string;
  readonly needs: keyof HostBackend;
  readonly writes: boolean;
  /** What it is tried on: nothing but a bundle that is not uploaded, one that is, or one that runs on the target. */
  readonly on: 'nothing' | 'bundle' | 'deployment';
  /** @default the preferred format of the backend */
  readonly format?: BundleFormat;
  run(subject: Subject, prepared: Prepared, options?: CallOptions): Promise<unknown>;
}

function operation<Name extends Called>(
  needs: Name,
  on: Operation['on'],
  requestOf: (prepared: Prepared, subject: Subject) => RequestOf<Name>,
): Operation {
  const kind = backendCalls[needs];
  return {
    name: 'capability' in kind ? kind.capability : needs,
    needs,
    writes: 'writes' in kind,
    on,
    run: (subject, prepared, options) => subject.call(needs, requestOf(prepared, subject), options),
  };
}

const limit = 10;

export const bundleOperations: readonly Operation[] = [
  operation('deploy', 'bundle', ({bundleId}, {targetSlug}) => ({bundleId, targetSlug})),
  operation('download', 'bundle', ({bundleId}) => {
    return {bundleId, writeTo: new Writable({write: (_piece, _encoding, done) => done()})};
  }),
  operation('deleteBundle', 'bundle', ({bundleId}) => ({bundleId})),
];

export const operations: readonly Operation[] = [
  operation('verify', 'nothing', () => undefined),
  operation('promote', 'deployment', ({bundleId}, {targetSlug, otherTarget}) => {
    return {bundleId, from: targetSlug, to: otherTarget};
  }),
  operation('getDeployment', 'deployment', ({deployment = {}}) => deployment),
  operation('listBundles', 'bundle', () => ({limit})),
  operation('listDeployments', 'deployment', (_, {targetSlug}) => ({limit, targetSlug})),
  operation('listTargets', 'deployment', () => ({limit})),
  operation('readLogs', 'deployment', ({deployment = {}}) => ({deployment})),
  ...bundleOperations,
];

export function uploadOperation(format: BundleFormat): Operation {
  const upload = operation('upload', 'nothing', ({bundle}) => bundle);
  return {...upload, name: `upload (${format})`, format};
}

export async function prepare(subject: Subject, {on, format}: Operation): Promise<Prepared> {
  const bundle = await subject.makeBundle({format});
  if (on === 'nothing') return {bundle, bundleId: ''};
  if (!subject.backend.deploy || on === 'bundle') return {bundle, bundleId: await subject.upload(bundle)};
  return {bundle, ...(await subject.deployed())};
}
