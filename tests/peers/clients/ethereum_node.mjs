// node ethereum_node.mjs: Ganache with an empty chain that is the same in each run. Prints its port.
import { createRequire } from "node:module";

const ganache = createRequire(import.meta.url)("ganache");
const server = ganache.server({
  wallet: { deterministic: true },
  chain: { time: new Date("2026-01-01T00:00:00Z") },
  miner: { timestampIncrement: 1 },
  logging: { quiet: true },
});
await server.listen(0, "127.0.0.1");
console.log(server.address().port);
