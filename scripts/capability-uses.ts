import type {OptionalMember} from '../src/backends/members.js';
import type * as library from '../src/library.js';

/** What each function of a backend makes work: a command, and a call of the library. */
export const capabilityUses: Readonly<
  Record<OptionalMember, {readonly command: string; readonly call: keyof typeof library}>
> = {
  deploy: {command: 'bundle:deploy', call: 'deployBundle'},
  promote: {command: 'bundle:promote', call: 'promoteBundle'},
  getDeployment: {command: 'bundle:deploy --wait', call: 'waitForDeployment'},
  listBundles: {command: 'bundle:list', call: 'listBundles'},
  listDeployments: {command: 'bundle:history', call: 'listDeployments'},
  listTargets: {command: 'target:list', call: 'listTargets'},
  createTarget: {command: 'target:create', call: 'createTarget'},
  deleteTarget: {command: 'target:delete', call: 'deleteTarget'},
  listProjects: {command: 'project:list', call: 'listProjects'},
  readTarget: {command: 'target:diff', call: 'diffTarget'},
  updateTarget: {command: 'target:apply', call: 'applyTarget'},
  listRedirects: {command: 'target:diff', call: 'diffTarget'},
  changeRedirect: {command: 'target:apply', call: 'applyTarget'},
  listAccess: {command: 'target:diff', call: 'diffTarget'},
  changeAccess: {command: 'target:apply', call: 'applyTarget'},
  listVariables: {command: 'env:list', call: 'listVariables'},
  setVariables: {command: 'env:set', call: 'setVariables'},
  invalidate: {command: 'target:invalidate', call: 'invalidate'},
  tailLogs: {command: 'logs', call: 'tailLogs'},
  download: {command: 'bundle:download', call: 'downloadBundle'},
  deleteBundle: {command: 'bundle:delete', call: 'deleteBundles'},
};
