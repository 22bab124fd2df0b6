// What bin/run.js starts once it knows that this Node is new enough.
import {start} from '../dist/cli/start.js';

await start(process, import.meta.url);
