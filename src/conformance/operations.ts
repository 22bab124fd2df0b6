import {Writable} from 'node:stream';
import type {Bundle, BundleFormat, BundleId, DeploymentRef} from '../backends/contract.js';
import {backendMembers, type MemberRow, type RequestOf} from '../backends/members.js';
import type {Called, CallOptions, Subject} from './subject.js';

/** What an operation is tried on. */
export interface Prepared {
  readonly bundle: Bundle;
  readonly bundleId: BundleId;
  readonly deployment?: DeploymentRef;
}

/** Something that the host asks a backend for. */
export interface Operation<Needed extends Called = Called> {
  readonly name: string;
  readonly needs: Needed;
  readonly writes: boolean;
  /** What it is tried on: nothing but a bundle that is not uploaded, one that is, or one that runs on the target. */
  readonly on: 'nothing' | 'bundle' | 'deployment';
  /** @default the preferred format of the backend */
  readonly format?: BundleFormat;
  run(subject: Subject, prepared: Prepared, options?: CallOptions): Promise<unknown>;
}

type Tried = Exclude<Called, 'login' | 'tailLogs'>;

/** What a function is tried on, and what it is called with. */
interface Try<Name extends Tried> extends Pick<Operation, 'on'> {
  readonly request: (prepared: Prepared, subject: Subject) => RequestOf<Name>;
}

const limit = 10;

const tries: {readonly [Name in Tried]: Try<Name>} = {
  upload: {on: 'nothing', request: ({bundle}) => bundle},
  verify: {on: 'nothing', request: () => undefined},
  promote: {
    on: 'deployment',
    request: ({bundleId}, {targetSlug, otherTarget}) => ({bundleId, from: targetSlug, to: otherTarget}),
  },
  getDeployment: {on: 'deployment', request: ({deployment = {}}) => deployment},
  listBundles: {on: 'bundle', request: () => ({limit})},
  listDeployments: {on: 'deployment', request: (_, {targetSlug}) => ({limit, targetSlug})},
  listTargets: {on: 'deployment', request: () => ({limit})},
  createTarget: {on: 'nothing', request: () => ({targetSlug: 'conformance-new'})},
  listVariables: {on: 'deployment', request: (_, {targetSlug}) => ({limit, targetSlug})},
  setVariables: {
    on: 'deployment',
    request: (_, {targetSlug}) => ({targetSlug, set: {CONFORMANCE: 'a value of a variable'}, unset: []}),
  },
  invalidate: {on: 'deployment', request: (_, {targetSlug}) => ({targetSlug, pattern: '/*'})},
  readLogs: {on: 'deployment', request: ({deployment = {}}) => ({deployment})},
  deploy: {on: 'bundle', request: ({bundleId}, {targetSlug}) => ({bundleId, targetSlug})},
  download: {
    on: 'bundle',
    request: ({bundleId}) => ({bundleId, writeTo: new Writable({write: (_piece, _encoding, done) => done()})}),
  },
  deleteBundle: {on: 'bundle', request: ({bundleId}) => ({bundleId})},
  deleteTarget: {on: 'deployment', request: (_, {targetSlug}) => ({targetSlug})},
};

function operation<Name extends Tried>(needs: Name): Operation<Name> {
  const row: MemberRow = backendMembers[needs];
  const {on, request} = tries[needs];
  return {
    name: row.capability ?? needs,
    needs,
    writes: row.effect === 'writes',
    on,
    run: (subject, prepared, options) => subject.call(needs, request(prepared, subject), options),
  };
}

/** What is asked about a bundle that was uploaded. */
export const bundleOperations: readonly Operation[] = (['deploy', 'download', 'deleteBundle'] as const).map(operation);

/** Everything but uploads. */
export const operations: readonly Operation[] = Object.keys(tries)
  .filter((name): name is Exclude<Tried, 'upload'> => name !== 'upload')
  .map(operation);

export function uploadOperation(format: BundleFormat): Operation {
  return {...operation('upload'), name: `upload (${format})`, format};
}

export async function prepare(subject: Subject, {on, format}: Operation): Promise<Prepared> {
  const bundle = await subject.makeBundle({format});
  if (on === 'nothing') return {bundle, bundleId: ''};
  if (!subject.backend.deploy || on === 'bundle') return {bundle, bundleId: await subject.upload(bundle)};
  return {bundle, ...(await subject.deployed())};
}
