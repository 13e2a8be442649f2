// Two questions that every pod asks of every new node and whose answers depend on the template alone: does it tolerate the
// taints, and on which rows do daemons leave its host ports free. Answered once per kind of pod.

import { type Bitset, keepCommon } from '../../base/index.ts';
import { toleratesAll } from '../kube/taints.ts';
import { portsConflict } from '../pods/host-ports.ts';
import type { Template } from '../pools/templates.ts';
import type { Constraint } from '../workload.ts';
import type { NewNode } from './new-node.ts';

export class TemplateAnswers {
  private readonly portRows = new Map<Template, Map<Constraint, Bitset>>();
  private readonly tolerated: Map<Template, boolean>[] = [];

  /** The new node's rows less those whose daemons use the pod's host ports. */
  rowsFor(newNode: NewNode, constraint: Constraint): Bitset {
    const { template } = newNode;
    if (constraint.ports.length === 0 || !template.hasDaemonPorts) return newNode.rows;
    let byConstraint = this.portRows.get(template);
    if (byConstraint === undefined) {
      byConstraint = new Map();
      this.portRows.set(template, byConstraint);
    }
    let free = byConstraint.get(constraint);
    if (free === undefined) {
      free = new Uint32Array(newNode.rows.length);
      const conflicts = template.daemonGroups.map((group) => portsConflict(constraint.ports, group.ports));
      for (let row = 0; row < template.rows.count; row++) {
        if (conflicts[template.daemonGroupOf[row] as number]) continue;
        free[row >>> 5] = (free[row >>> 5] as number) | (1 << (row & 31));
      }
      byConstraint.set(constraint, free);
    }
    const rows = Uint32Array.from(newNode.rows);
    keepCommon(rows, free);
    return rows;
  }

  tolerates(constraint: Constraint, template: Template): boolean {
    if (template.taints.length === 0) return true;
    let answers = this.tolerated[constraint.tolerationId];
    if (answers === undefined) {
      answers = new Map();
      this.tolerated[constraint.tolerationId] = answers;
    }
    let answer = answers.get(template);
    if (answer === undefined) {
      answer = toleratesAll(template.taints, constraint.tolerations);
      answers.set(template, answer);
    }
    return answer;
  }
}
