import type {BackendsHook} from 'mycli/backend';
import {directoryBackend} from '../backend.js';

const hook: BackendsHook = async () => ({backends: [directoryBackend]});

export default hook;
