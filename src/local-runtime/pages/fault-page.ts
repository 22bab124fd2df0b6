import {html} from 'hono/html';
import {isRuntimeCliError} from '../../errors/index.js';
import type {Call} from '../runtime-context.js';
import {faultText} from '../faults.js';
import {liveSection, notice, pageAnswer, pagesPath, readForm, seeOther, table} from './page.js';

const path = `${pagesPath}faults`;

const ready = {
  '429x2:retry-after=1': 'Rate-limit the next 2 requests',
  '503x1': 'Fail the next request with 503',
  '401x1': 'Reject the credentials of the next request',
  'latency=2000': 'Delay every request by 2 seconds',
  'resetx1:route=upload': 'Reset the next upload',
  'dropx1:route=upload': 'Accept the next upload, but do not answer',
  truncatex1: 'Cut off the next answer',
  hangx1: 'Never answer the next request',
  failx1: 'Let the next deployment fail',
} as const;

/** The faults that are left, and forms to add and remove them. `refused`: what was to be added, and why it was not. */
export function showFaults(
  {context: {faults}}: Call,
  refused?: {readonly text: string; readonly problem: string},
): Promise<Response> {
  const active = table('Faults, in the order in which they apply', {
    columns: ['Fault', 'Left', 'Remove'],
    rows: faults.list().map(({number, rule, left}) => [
      html`<code>${faultText(rule)}</code>`,
      left === Infinity ? 'No limit' : left,
      html`<form action="${path}/remove" method="post">
<button name="fault" value="${number}" aria-label="Remove ${faultText(rule)}">Remove</button></form>`,
    ]),
    empty: 'No faults: all requests are answered normally.',
  });
  const content = html`<p>A fault makes requests to the API and to apps fail, to see how mycli or your pipeline copes. These
pages are never affected.</p>
${liveSection('Active faults', active)}
<h2>Add a fault</h2>
${refused && notice(refused.problem, 'problem')}
<form action="${path}" method="post">
<label for="fault">Fault</label>
<input id="fault" name="fault" value="${refused?.text}" required autocomplete="off" spellcheck="false" aria-describedby="fault-hint">
<button class="main">Add</button>
</form>
<p id="fault-hint">Such as <code>429x2:retry-after=1</code> or <code>resetx1:route=upload,after=1000000</code>: an action, how
often, and its parameters.</p>
<form action="${path}" method="post">
${Object.entries(ready).map(([fault, label]) => html`<button name="fault" value="${fault}">${label}</button>`)}
</form>`;
  return pageAnswer({title: 'Faults', content, status: refused === undefined ? 200 : 422});
}

export async function addFault(call: Call): Promise<Response> {
  const text = (await readForm(call)).get('fault')?.trim() ?? '';
  try {
    call.context.faults.add(text);
  } catch (error) {
    if (!isRuntimeCliError(error)) throw error;
    return showFaults(call, {text, problem: [error.message, ...error.suggestions].join(' ')});
  }
  return seeOther(path);
}

export async function removeFault(call: Call): Promise<Response> {
  call.context.faults.remove(Number((await readForm(call)).get('fault')));
  return seeOther(path);
}
