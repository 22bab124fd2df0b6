// Writes the operations of hooks into docs/guides/lifecycle-hooks.md and the routes of faults into
// docs/reference/local-runtime.md, from the tables that have them. `npm run docs:generate` runs it.
import {writeNouns} from '../src/backends/contract/hooks.js';
import {routeNames} from '../src/local-runtime/faults.js';
import {fillFormatted} from './fill-page.js';

const listed = (names) => names.map((name) => `\`${name}\``).join(', ');

await fillFormatted('guides/lifecycle-hooks.md', {operations: listed(Object.keys(writeNouns))});
await fillFormatted('reference/local-runtime.md', {routes: listed(routeNames)});
