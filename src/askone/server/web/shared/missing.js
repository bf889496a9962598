import { me } from "./api.js";
import { top } from "./top.js";

top();
const person = await me().catch(() => null);
if (person?.user) top(person);
