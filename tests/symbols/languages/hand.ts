import type { Logger } from "./logger";
import { Injectable, type Config, Store as BaseStore } from "@shop/core";
import express = require("express");
export * from "./errors";

/** Ids of products; they never change. */
export type ProductId = string & { readonly brand: unique symbol };
type Pair<K, V = K> = [key: K, value: V];

export enum Status {
  Draft,
  Live = "live",
}
declare const VERSION: string;

/** Whatever has a price. */
export interface Priced<T extends Config> extends Named, Comparable<T> {
  readonly price: number;
  label?: string;
  discount(rate: number, of?: T): Pair<ProductId>;
  new (id: ProductId): Priced<T>;
}

namespace rates {
  const base = 0.2;
  export const full = base * 2;
  export function of(status: Status): number { return status === Status.Live ? full : base; }
}

// The shop of one town.
@Injectable()
export abstract class Shop<T extends Priced<Config>> extends BaseStore<T> implements Iterable<T>, rates.Taxed {
  static readonly LIMIT: number = 10;
  protected items = new Map<ProductId, T>();
  private static shared?: Shop<any>;
  #open = false;

  /** Opens in `town`.
   *  @param town the place */
  constructor(private readonly town: string, log: Logger, public owner = VERSION) {
    super(town);
    log.info(`${town} ${this.owner}`);
  }

  abstract rent(): number;
  public get open(): boolean { return this.#open; }
  protected override find(id: ProductId): T | undefined;
  protected override find(id: any): any { return this.items.get(id as ProductId); }

  async *prices<R>(map: (item: T) => R, ...ids: ProductId[]): AsyncGenerator<R> {
    for (const [id, item] of this.items) {
      if (ids.includes(id)) yield map(item);
    }
    Shop.shared = this as Shop<any>;
  }

  private readonly close = async (hard: boolean): Promise<void> => {
    if (hard) this.#open = false;
  };
}

/** Looks it up. */
function lookup(id: string): Status;
function lookup(id: number | string): Status {
  const seen: Record<string, Status> = { [id]: Status.Draft };
  return seen[id]!;
}

const isLive = (shop: { status: Status }): shop is Live => lookup("x") === shop.status;
export default class Stall extends Shop<Goods> {
  rent = () => rates.full;
}
export const app: express.Application = express();
app.get("/", (req, res) => { const stall = new Stall("x", req.log); res.send(stall.open, rates.of); });
export { isLive };
