import { me } from "./api.js";
import { top } from "./header.js";

top();
const person = await me().catch(() => null);
if (person?.user) top(person);
