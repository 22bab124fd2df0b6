import {isRuntimeCliError} from '../../errors/index.js';
import type {AdmittedCall} from '../context.js';
import {faultText, type FaultRule} from '../faults.js';
import {foreign, markup, table} from './html.js';
import {notice, pageAnswer, pagesPath, readForm, seeOther} from './page.js';

const path = `${pagesPath}faults`;

/** Faults to add with one click. */
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
export function showFaults(call: AdmittedCall, refused?: {readonly text: string; readonly problem: string}): Response {
  const {context, query} = call;
  const faults = context.faults.list();
  const done = {add: 'The fault was added.', remove: 'The fault was removed.'}[query.get('done') ?? ''];
  const content = markup`${done === undefined ? undefined : notice(done)}
<p>A fault makes requests to the API and to apps fail, to see how mycli or your pipeline copes. These pages are never affected.</p>
<section id="faults" data-live>
<h2>Active</h2>
${
  faults.length === 0
    ? markup`<p>No faults: all requests are answered normally.</p>`
    : table(
        'Faults, in the order in which they apply',
        [
          {title: 'Fault', cell: ({rule}) => markup`<code><bdi>${faultText(rule)}</bdi></code>`},
          {title: 'What happens', cell: ({rule, left}) => foreign(effectOf(rule, left), 400)},
          {title: 'Left', cell: ({left}) => (left === Infinity ? 'No limit' : left)},
          {
            title: 'Remove',
            cell: ({number, rule}) => markup`<form action="${path}/remove" method="post">
<input type="hidden" name="fault" value="${number}"><button aria-label="Remove ${faultText(rule)}">Remove</button></form>`,
          },
        ],
        faults,
      )
}
</section>
<h2>Add a fault</h2>
${refused === undefined ? undefined : markup`<div id="problem" role="alert">${notice(refused.problem, 'problem')}</div>`}
<form class="row" action="${path}" method="post">
<div class="field"><label for="fault">Fault</label>
<input id="fault" name="fault" value="${refused?.text ?? ''}" required autocomplete="off" spellcheck="false"
aria-describedby="${refused === undefined ? '' : 'problem '}fault-hint" aria-invalid="${refused === undefined ? 'false' : 'true'}"></div>
<button class="main">Add</button>
</form>
<p class="hint" id="fault-hint">Such as <code>429x2:retry-after=1</code> or <code>resetx1:route=upload,after=1000000</code>: an
action, how often, and its parameters.</p>
<h3>Ready-made</h3>
<form class="buttons" action="${path}" method="post">
${Object.entries(ready).map(([fault, label]) => markup`<button name="fault" value="${fault}">${label}</button>`)}
</form>`;
  return pageAnswer({title: 'Faults', place: 'Faults', content, status: refused === undefined ? 200 : 422});
}

/** Adds the fault of a form. */
export async function addFault(call: AdmittedCall): Promise<Response> {
  const text = (await readForm(call)).get('fault')?.trim() ?? '';
  try {
    call.context.faults.add(text);
  } catch (error) {
    if (!isRuntimeCliError(error)) throw error;
    return showFaults(call, {text, problem: [error.message, ...error.suggestions].join(' ')});
  }
  return seeOther(`${path}?done=add`);
}

/** Removes the fault of a form. One that is used up is gone already. */
export async function removeFault(call: AdmittedCall): Promise<Response> {
  call.context.faults.remove(Number((await readForm(call)).get('fault')));
  return seeOther(`${path}?done=remove`);
}

/** What a fault does to the requests that it is left for, in a sentence. */
function effectOf(rule: FaultRule, left: number): string {
  const kind = rule.route === undefined ? '' : ` of the kind "${rule.route}"`;
  const requests = {[Infinity]: 'each request', 1: 'the next request'}[left] ?? `the next ${left} requests`;
  const affected = `${requests}${kind}`;
  const bytes = 'after' in rule && rule.after !== undefined ? ` after ${rule.after.toLocaleString('en-US')} bytes` : '';
  switch (rule.action) {
    case 'status':
      return `Answers ${affected} with ${rule.status}${bytes}.`;
    case 'latency':
      return `Delays ${affected} by ${rule.milliseconds.toLocaleString('en-US')} ms.`;
    case 'reset':
      return `Resets the connection${bytes} for ${affected}.`;
    case 'hang':
      return `Never answers ${affected}.`;
    case 'truncate':
      return `Cuts off the answer${bytes} for ${affected}.`;
    case 'drop':
      return `Carries out ${affected}, but resets the connection instead of answering.`;
    case 'fail':
      return `Accepts ${affected}, and the deployment then fails.`;
  }
}
