// The least that a command line on oclif can be: what the start-up of ours is compared with.
import {execute} from '@oclif/core';

await execute({dir: import.meta.url});
