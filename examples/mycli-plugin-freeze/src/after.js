import process from 'node:process';

/**
 * Sends the outcome to a webhook, if there is one. `signal` ends a request to one that does not answer.
 * @type {import('mycli/backend').AfterHook}
 */
export default async function after({signal, ...outcome}) {
  const {NOTIFY_URL: url = ''} = process.env;
  if (url === '') return;
  const response = await fetch(url, {
    method: 'POST',
    headers: {'content-type': 'application/json'},
    body: JSON.stringify({text: describe(outcome), ...outcome}),
    signal,
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`the webhook answered ${response.status}`);
}

/**
 * `push of my-shop to production succeeded: https://shop.example`
 * @param {import('mycli/backend').WriteOutcome} outcome
 */
function describe({operation, projectSlug, targetSlug, outcome, url, error}) {
  const where = targetSlug === undefined ? '' : ` to ${targetSlug}`;
  const more = error?.message ?? url;
  return `${operation} of ${projectSlug}${where} ${outcome}${more === undefined ? '' : `: ${more}`}`;
}
