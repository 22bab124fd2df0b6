// Writes the operations of hooks into docs/guides/lifecycle-hooks.md and the routes of faults into
// docs/reference/local-runtime.md, from the tables that have them. `npm run docs:generate` runs it.
import {writeNouns} from '../src/backends/contract/hooks.js';
import {routeNames} from '../src/local-runtime/faults.js';
import {fillFormatted} from './fill-page.js';

await fillFormatted('guides/lifecycle-hooks.md', {
  operations: `
| \`operation\` | what is about to happen |
| --- | --- |
${Object.entries(writeNouns)
  .map(([operation, noun]) => `| \`${operation}\` | ${noun} |`)
  .join('\n')}`,
});
await fillFormatted('reference/local-runtime.md', {routes: routeNames.map((name) => `\`${name}\``).join(', ')});
