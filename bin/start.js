// What bin/run.js starts once it knows that this Node is new enough.
import {run} from '../dist/cli/run.js';

await run(process, import.meta.url);
