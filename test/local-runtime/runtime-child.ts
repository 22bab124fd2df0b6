import {startLocalRuntime} from '../../src/testing.js';

// Run by a test in a process of its own, to be killed.
const runtime = await startLocalRuntime({dataDirectory: process.argv[2], deploymentSeconds: 0, port: 0, appsPort: 0});
process.stdout.write(`${JSON.stringify({origin: runtime.origin, credentials: runtime.credentials})}\n`);
