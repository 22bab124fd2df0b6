import * as kinds from './kinds.js';

/** The settings of `guard`, part of the table in definitions.ts. */
export const guardRows = {
  guardCleanTree: {
    label: 'guard for a clean work tree',
    set: 'guard',
    config: 'guard.cleanTree',
    kind: kinds.toggle,
    perTarget: 'targetSlug',
    summary: 'Refuse to deploy what was built with uncommitted changes.',
  },
  guardBranch: {
    label: 'guard for the branch',
    set: 'guard',
    config: 'guard.branch',
    kind: kinds.someItems,
    perTarget: 'targetSlug',
    summary: 'Only deploy what was built on a branch that these patterns match.',
  },
  guardOrigin: {
    label: 'guard for the repository',
    set: 'guard',
    config: 'guard.origin',
    kind: kinds.address,
    perTarget: 'targetSlug',
    summary: 'Only deploy from a clone of this git repository.',
  },
  guardNotOlder: {
    label: 'guard against older commits',
    set: 'guard',
    config: 'guard.notOlder',
    kind: kinds.toggle,
    perTarget: 'targetSlug',
    summary: 'Refuse to deploy a commit that does not contain the one that the target runs.',
  },
  guardCiOnly: {
    label: 'guard for CI',
    set: 'guard',
    config: 'guard.ciOnly',
    kind: kinds.toggle,
    perTarget: 'targetSlug',
    summary: 'Refuse to deploy from anywhere but CI.',
  },
  guardConfirm: {
    label: 'guard by confirmation',
    set: 'guard',
    config: 'guard.confirm',
    kind: kinds.toggle,
    perTarget: 'targetSlug',
    summary: 'Ask a person to type the name of the target before deploying.',
  },
  production: {
    label: 'mark of a production target',
    set: 'guard',
    config: 'production',
    kind: kinds.toggle,
    perTarget: 'targetSlug',
    summary: 'Treat the target as production, whatever its name (for MYCLI_SAFETY=no-production).',
  },
  recordCommit: {
    label: 'record of the commit',
    set: 'guard',
    config: 'recordCommit',
    kind: kinds.toggle,
    summary: 'Append branch and commit to a message of yours; default: only if a guard of the target needs them.',
  },
} as const;
