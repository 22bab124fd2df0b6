/** A bug to plant in the sources, which the model has to find. */
export interface Plant {
  readonly name: string;
  /** A text that occurs once in src, and what stands there instead. */
  readonly from: string;
  readonly to: string;
}

/** Bugs that somebody could make. */
export const plants: readonly Plant[] = [
  {
    name: 'fall back after a 500',
    from: 'definiteRejections: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 406, 415])',
    to: 'definiteRejections: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 406, 415, 500])',
  },
  {
    name: 'repeat a POST whose answer was lost',
    from: "repeatable : method === 'GET' || method === 'HEAD'",
    to: 'repeatable : true',
  },
  {
    name: 'take what was sent whole for what was never sent',
    from: 'this.sent || (this.handedOver && this.connected)',
    to: 'this.sent && !this.connected',
  },
  {
    name: 'take the 504 of a gateway for a refusal',
    from: 'new Set([408, 502, 504])',
    to: 'new Set([408, 502])',
  },
  {
    name: 'send an upload again that was sent whole',
    from: "context['onlyWhole'] === true && delivered === undefined && !mayBeWhole",
    to: "context['onlyWhole'] === true && delivered === undefined",
  },
  {
    name: "forget the deployment's ID",
    from: "deployment: {deploymentId, targetSlug}, status: deploymentStatus('api', status)",
    to: "deployment: {deploymentId: 'other', targetSlug}, status: deploymentStatus('api', status)",
  },
  {
    name: 'pass over a row that cannot be read',
    from: "find((item) => item.status === 'finished' || isUnclear(item))",
    to: "find((item) => item.status === 'finished')",
  },
  {
    name: 'take an older deployment for ours',
    from: "if (before === 'none') return true;",
    to: 'return true;',
  },
  {
    name: 'forget the bundle when its deployment fails',
    from: '    bundleId,\n    deployment,\n    status,\n    url: urlOf(ledger),',
    to: '    deployment,\n    status,\n    url: urlOf(ledger),',
  },
  {
    name: 'say that a bundle was not deleted when that is not known',
    from: "maybe ? 'may have been' : 'was not'",
    to: "maybe ? 'was not' : 'was not'",
  },
  {
    name: 'show credentials that a server repeats',
    from: 'createRedactor([...secrets, ...sentCredentials(options)])',
    to: 'createRedactor([])',
  },
  {
    name: 'let a server colour the terminal',
    from: String.raw`.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')`,
    to: '',
  },
  {
    name: 'give up a deployment after one lost look',
    from: 'const maxLostPolls = 5;',
    to: 'const maxLostPolls = 1;',
  },
  {
    name: 'say that a target was rolled back as soon as that was asked for',
    from: 'const {status} = await pollDeployment(open, deployment);',
    to: "const status = 'finished' as const;",
  },
  {
    name: 'leave a temporary folder',
    from: 'remove: () => rm(path, {recursive: true, force: true, maxRetries}),',
    to: 'remove: () => Promise.resolve(),',
  },
];
