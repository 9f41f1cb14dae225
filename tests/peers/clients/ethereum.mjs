// node ethereum.mjs URL: ethers sends a transaction to a node. Prints what it saw.
import { createRequire } from "node:module";

const { ethers } = createRequire(import.meta.url)("ethers");
const network = ethers.Network.from(1337);
const provider = new ethers.JsonRpcProvider(process.argv[2], network, { staticNetwork: network, batchMaxCount: 1, cacheTimeout: -1 });
const from = await provider.getSigner(0);
const to = await provider.getSigner(1);
const seen = [await provider.getBlockNumber()];
const { hash } = await from.sendTransaction({ to: to.address, value: 5n });
seen.push((await provider.getTransactionReceipt(hash)).status, (await provider.getBlock(1)).transactions.length);
seen.push(String(await provider.getBalance(to.address)));
await provider.send("eth_sendTransaction", [{ from: ethers.ZeroAddress }]).catch((error) => seen.push(error.error.code));
provider.destroy();
console.log(JSON.stringify(seen));
