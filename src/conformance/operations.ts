import {PassThrough} from 'node:stream';
import type {Bundle, BundleFormat, BundleId, DeploymentRef, TargetSettings} from '../backends/contract.js';
import {backendMembers, type MemberRow, type RequestOf} from '../backends/members.js';
import type {Called, MemberCallOptions, Subject} from './subject.js';

/** What an operation is tried on. */
export interface Prepared {
  readonly bundle: Bundle;
  readonly bundleId: BundleId;
  /** Those that have run on the target before, newest first. */
  readonly earlier?: readonly BundleId[];
  readonly deployment?: DeploymentRef;
  /** Settings that a target of the service can have. */
  readonly settings?: TargetSettings;
}

/** Something that the host asks a backend for. */
export interface TriedOperation<Needed extends Called = Called> {
  readonly name: string;
  readonly needs: Needed;
  readonly writes: boolean;
  /** What it is tried on: nothing but a bundle that is not uploaded, one that is, or one that runs on the target. */
  readonly on: 'nothing' | 'bundle' | 'deployment';
  /** @default the preferred format of the backend */
  readonly format?: BundleFormat;
  /** Whether the target runs another bundle before. @default false */
  readonly isUpdate?: boolean;
  run(subject: Subject, prepared: Prepared, options?: MemberCallOptions): Promise<unknown>;
}

type Tried = Exclude<Called, 'login' | 'tailLogs'>;
type RequestMaker<Name extends Tried> = (prepared: Prepared, subject: Subject) => RequestOf<Name>;

/** What each function is tried on, and what it is called with. */
const tries: {readonly [Name in Tried]: readonly [on: TriedOperation['on'], request: RequestMaker<Name>]} = {
  upload: ['nothing', ({bundle}) => bundle],
  verify: ['nothing', () => undefined],
  promote: ['deployment', ({bundleId}, {targetSlug, otherTarget}) => ({bundleId, from: targetSlug, to: otherTarget})],
  getDeployment: ['deployment', ({deployment = {}}) => deployment],
  listBundles: ['bundle', () => ({limit: 10})],
  listDeployments: ['deployment', (_, {targetSlug}) => ({limit: 10, targetSlug})],
  listTargets: ['deployment', () => ({limit: 10})],
  createTarget: ['nothing', () => ({targetSlug: 'conformance-new'})],
  listProjects: ['deployment', () => ({limit: 10})],
  readTarget: ['deployment', (_, {targetSlug}) => ({targetSlug})],
  updateTarget: ['deployment', ({settings = {}}, {targetSlug}) => ({targetSlug, settings})],
  listRedirects: ['deployment', (_, {targetSlug}) => ({limit: 10, targetSlug})],
  changeRedirect: ['deployment', (_, {targetSlug}) => ({targetSlug, change: 'add', redirect: {from: '/a', to: '/b'}})],
  listAccess: ['deployment', (_, {targetSlug}) => ({limit: 10, targetSlug})],
  changeAccess: ['deployment', (_, {targetSlug}) => ({targetSlug, add: 'a value of access'})],
  listVariables: ['deployment', (_, {targetSlug}) => ({limit: 10, targetSlug})],
  setVariables: ['deployment', (_, {targetSlug}) => ({targetSlug, set: {CONFORMANCE: 'a value'}, unset: []})],
  invalidate: ['deployment', (_, {targetSlug}) => ({targetSlug, pattern: '/*'})],
  deploy: ['bundle', ({bundleId}, {targetSlug}) => ({bundleId, targetSlug})],
  download: ['bundle', ({bundleId}) => ({bundleId, writeTo: new PassThrough().resume()})],
  deleteBundle: ['bundle', ({bundleId}) => ({bundleId})],
  deleteTarget: ['deployment', (_, {targetSlug}) => ({targetSlug})],
};

function operation<Name extends Tried>(needs: Name): TriedOperation<Name> {
  const row: MemberRow = backendMembers[needs];
  const [on, request] = tries[needs];
  return {
    name: row.capability ?? needs,
    needs,
    writes: row.effect === 'writes',
    on,
    run: (subject, prepared, options) => subject.call(needs, request(prepared, subject), options),
  };
}

/** What is asked about a bundle that was uploaded. */
export const bundleOperations: readonly TriedOperation[] = (['deploy', 'download', 'deleteBundle'] as const).map(
  operation,
);

/** Everything but uploads. */
export const triedOperations: readonly TriedOperation[] = Object.keys(tries)
  .filter((name): name is Exclude<Tried, 'upload'> => name !== 'upload')
  .map(operation);

export function uploadOperation(format: BundleFormat): TriedOperation {
  return {...operation('upload'), name: `upload (${format})`, format};
}

export async function prepare(subject: Subject, {on, format, needs, isUpdate}: TriedOperation): Promise<Prepared> {
  const earlier = isUpdate === true ? [(await subject.deployed()).bundleId] : [];
  const bundle = await subject.makeBundle({format});
  if (on === 'nothing') return {bundle, bundleId: ''};
  if (!subject.backend.deploy || on === 'bundle') return {bundle, earlier, bundleId: await subject.upload(bundle)};
  const deployed = await subject.deployed();
  const flag = needs === 'updateTarget' ? await subject.flagOf(subject.targetSlug) : undefined;
  return {bundle, ...deployed, settings: flag === undefined ? {} : {[flag]: true}};
}
