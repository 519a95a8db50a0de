import { Base } from "./base";

/** What can be drawn. */
export interface Shape extends Named {
  name: string;
  draw(on: Canvas): void;
}

export type Id = string | number;

enum Color { Red, Green = 2 }

namespace geo {
  export function area(shape: Shape): number {
    return shape.size;
  }
}

export abstract class Box<T> extends Base implements Shape, Other<T> {
  private items: T[] = [];
  abstract open(): void;

  protected async put(item: T): Promise<Id> {
    this.items = geo.area(item);
    return new Ticket(item);
  }
}

const limit: Id = 3;

class Crate extends Box<Id> {
  override open(): void {}
}
