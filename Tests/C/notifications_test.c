/*
 * notifications_test.c - callbacks of objects, lists, sets, dictionaries and results: the rows of docs/live-objects.md, section 11.1 to 11.5.
 *
 *     notifications_test
 *
 * Most rows are in a table: the data before, the observed object or collection, the actions of another Realm of the
 * file, and the changes that one refresh reports. Rows of one commit are also tested with a commit of the observing
 * Realm. ../Notifications/actions.h describes the language of the table. Rows in which other libraries differ, against
 * the documentation, are marked.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sys/wait.h>
#include <unistd.h>

#include "checks.h"

#include "../Notifications/actions.h"

enum { PATIENCE = 60000 };
static char folder[] = "/tmp/notifications-XXXXXX";
static int files;

/* ---- Rows of one refresh -------------------------------------------------------------------------------- */

typedef struct {
    const char *name, *before, *observed, *actions, *expected;
} row_t;

#define CHAIN "objects 0 6; 0.link=@1; 1.link=@2; 2.link=@3; 3.link=@4; 4.link=@5; 5.link=@6"
#define SIX_LINKS "results id == 0 @ link.link.link.link.link.link.n"
static const row_t rows[] = {
    /* 11.1 List of ints */
    {"L2", "new 0; 0.li fill 10", "0.li", "0.li set 3 99", "M{3→3}"},
    {"L2 equal", "new 0; 0.li fill 10", "0.li", "0.li set 3 3", "M{3→3}"},
    {"L3", "new 0; 0.li fill 10", "0.li", "0.li ins 0 7; 0.li ins 1 8", "I{0,1}"},
    {"L4", "new 0; 0.li fill 10", "0.li", "0.li era 0; 0.li era 0", "D{0,1}"},
    {"L5", "new 0; 0.li fill 10", "0.li", "0.li ins 5 1; 0.li era 5", "-"},
    {"L6", "new 0; 0.li fill 10", "0.li", "0.li set 5 1; 0.li era 5", "D{5}"},
    {"L7", "new 0; 0.li fill 10", "0.li", "0.li era 5; 0.li ins 5 1", "D{5} I{5}"},
    {"L8", "new 0; 0.li fill 10", "0.li", "0.li mov 2 5", "D{2} I{5} MV{2>5}"},
    {"L9", "new 0; 0.li fill 10", "0.li", "0.li mov 5 2", "D{5} I{2} MV{5>2}"},
    {"L10", "new 0; 0.li fill 10", "0.li", "0.li mov 2 3", "D{2} I{3} MV{2>3}"},
    {"L11", "new 0; 0.li fill 10", "0.li", "0.li mov 2 5; 0.li mov 5 7", "D{2} I{7} MV{2>7}"},
    {"L12", "new 0; 0.li fill 10", "0.li", "0.li mov 2 5; 0.li mov 5 2", "-"},
    {"L13", "new 0; 0.li fill 10", "0.li", "0.li set 2 1; 0.li mov 2 5", "D{2} I{5} MV{2>5}"},
    {"L14", "new 0; 0.li fill 10", "0.li", "0.li mov 2 5; 0.li era 5", "D{2}"},
    {"L15", "new 0; 0.li fill 10", "0.li", "0.li ins 3 1; 0.li mov 3 6", "I{6}"},
    {"L16", "new 0; 0.li fill 10", "0.li", "0.li ins 0 1; 0.li set 3 1; 0.li era 5", "D{4} I{0} M{2→3}"},
    {"L17", "objects 0 6; 0.la refs 1 6", "0.la", "0.la mov 0 4; 0.la mov 3 0", "D{0,4} I{0,4} MV{0>4,4>0}"},
    {"L18", "new 0; 0.li fill 9", "0.li", "0.li clr", "D{0…8} clr"},
    {"L19", "new 0", "0.li", "0.li clr", "-"},
    {"L20", "new 0; 0.li fill 3", "0.li", "0.li clr; 0.li ins 0 1; 0.li ins 0 1", "D{0,1,2} I{0,1}"},
    {"L21", "new 0; 0.li fill 2", "0.li", "0.li all", "D{0,1} clr"},
    {"L21 links", "objects 0 5; 0.la refs 1 4", "0.la", "0.la all", "D{0…3}"},
    {"L21 twice", "objects 0 5; 0.la refs 1 3; 0.la ins 3 @1", "0.la", "0.la all", "D{0…3}"},
    {"L21 embedded", "new 0; 0.le ins 0 new; 0.le ins 0 new; 0.le ins 0 new", "0.le", "0.le all", "D{0,1,2}"},
    {"L21 Mixed", "objects 0 5; 0.lm ins 0 @1; 0.lm ins 0 @2", "0.lm", "0.lm all", "D{0,1} clr"},
    {"L22", "new 0; 0.li fill 2", "0.li", "", "-"},
    {"L23", "new 0; 0.li fill 9", "0.li", "del 0", "D{0…8} del"},
    {"L23 silence", "new 0; 0.li fill 9", "0.li", "del 0 | new 0; 0.li ins 0 1", "D{0…8} del"},
    {"L24", "new 0", "0.li", "del 0", "del"},
    {"L25", "new 0; 0.li fill 10", "0.li", "0.li set 2 1 | 0.li era 0", "D{0} M{2→1}"},
    {"L26", "new 0; 0.li fill 10", "0.li", "0.li ins 0 1 | 0.li era 0", "-"},
    {"L27", "new 0; 0.li fill 10", "0.li", "0.li era 0 | 0.li ins 0 1", "D{0} I{0}"},
    {"L28", "new 0; 0.li fill 10", "0.li", "0.li mov 0 3 | 0.li mov 3 5", "D{0} I{5} MV{0>5}"},
    {"L29", "new 0; 0.li fill 10", "0.li", "0.li mov 0 3 | 0.li mov 3 0", "-"},
    {"L30", "new 0; 0.li fill 10", "0.li", "0.li mov 0 3 | 0.li era 3", "D{0}"},
    {"L31", "new 0; 0.li fill 10", "0.li", "0.li mov 0 3 | 0.li ins 1 9", "D{0} I{1,4} MV{0>4}"},
    {"L32", "new 0; 0.li fill 10", "0.li", "0.li ins 2 9 | 0.li mov 2 4", "I{4}"},
    {"L33", "new 0; 0.li fill 10", "0.li", "0.li set 2 9 | 0.li mov 2 4", "D{2} I{4} MV{2>4}"},
    {"L34", "new 0; 0.li fill 10", "0.li", "0.li clr | 0.li ins 0 9", "D{0…9} I{0}"},
    {"L35", "new 0; 0.li fill 1", "0.li", "0.li ins 0 9; 0.li ins 0 9 | 0.li clr", "D{0} clr"},
    {"L36 merged", "new 0; 0.li fill 1", "0.li", "0.li ins 0 9 | 0.li ins 0 9", "I{0,1}"},
    {"L38 move", "new 0; 0.li fill 5", "of 0.li", "0.li mov 0 3", "D{0} I{3} MV{0>3}"},
    {"L38 set", "new 0; 0.li fill 5", "of 0.li", "0.li set 1 9", "M{1→1}"},
    {"L38 clear", "new 0; 0.li fill 5", "of 0.li", "0.li clr", "D{0…4} clr"},
    {"L38 owner", "new 0", "of 0.li", "del 0", "del"},
    {"L39", "new 0; 0.li fill 5", "0.li @ -", "0.li set 0 9", "M{0→0}"},

    /* 11.2 Objects in collections, sets, dictionaries */
    {"C1", "objects 1 9; 1.la refs 2 9", "1.la", "4.n=44", "M{2→2}"},
    {"C1 equal", "objects 1 9; 1.la refs 2 9", "1.la", "4.n=4", "M{2→2}"},
    {"C2", "objects 1 9; 1.la refs 2 9", "1.la", "4.li ins 0 1", "M{2→2}"},
    {"C3", "objects 1 9; 1.la refs 2 9", "1.la", "del 5", "D{3}"},
    {"C4", "objects 1 9; 1.la refs 3 9", "1.la", "6.n=1; 1.la mov 3 0", "D{3} I{0} MV{3>0}"},
    {"C5", "objects 1 11; 1.la refs 2 9", "1.la", "1.la set 0 @11", "M{0→0}"},
    {"C6", "objects 1 11; 1.la refs 11 11; 1.la refs 11 11; 1.la refs 11 11; 1.la refs 2 3", "1.la", "del 11", "D{0,1,2}"},
    {"C7", "objects 0 3; 3.la refs 1 2; 3.la refs 1 1", "3.la", "1.n=9", "M{0→0,2→2}"},
    {"C8", "objects 0 10; 0.la refs 2 9; 8.link=@10", "0.la", "10.n=1", "M{6→6}"},
    {"C9 n", "objects 0 5; 0.la refs 1 3", "0.la @ -", "1.n=9", "-"},
    {"C9 insert", "objects 0 5; 0.la refs 1 3", "0.la @ -", "0.la ins 0 @4", "I{0}"},
    {"C9 set", "objects 0 5; 0.la refs 1 3", "0.la @ -", "0.la set 0 @4", "M{0→0}"},
    {"C9 delete", "objects 0 5; 0.la refs 1 3", "0.la @ -", "del 1", "D{0}"},
    {"C10 list", "objects 0 5; 0.lm ins 0 @3", "0.lm", "3.n=9", "-"},
    {"C10 set", "objects 0 5; 0.sm put @3", "0.sm", "3.n=9", "-"},
    {"C10 dictionary", "objects 0 5; 0.dm key k @3", "0.dm", "3.n=9", "-"},
    {"C11 list", "objects 0 5; 0.lm ins 0 @3", "0.lm", "del 3", "D{0}"},
    {"C11 set", "objects 0 5; 0.sm put @3", "0.sm", "del 3", "D{0}"},
    {"C11 dictionary", "objects 0 5; 0.dm key k @3", "0.dm", "del 3", "mod{k}"},
    {"C12 insert", "new 0; 0.si put 0; 0.si put 10; 0.si put 20; 0.si put 30; 0.si put 40", "0.si", "0.si put 25", "I{3}"},
    {"C12 again", "new 0; 0.si put 0; 0.si put 10; 0.si put 25", "0.si", "0.si put 25", "-"},
    {"C12 erase", "new 0; 0.si put 0; 0.si put 10", "0.si", "0.si rem 0", "D{0}"},
    {"C12 absent", "new 0; 0.si put 0; 0.si put 10", "0.si", "0.si rem 1", "-"},
    {"C13", "new 0; 0.si put 10; 0.si put 20", "0.si", "0.si rem 10; 0.si put 10", "D{0} I{0}"},
    {"C14", "new 0; 0.si put 0; 0.si put 1; 0.si put 2; 0.si put 3; 0.si put 4", "0.si", "0.si clr", "D{0…4} clr"},
    {"C15 n", "objects 0 5; 0.sa put @1; 0.sa put @2; 0.sa put @3", "0.sa", "3.n=9", "M{2→2}"},
    {"C15 delete", "objects 0 5; 0.sa put @1; 0.sa put @2; 0.sa put @3", "0.sa", "del 2", "D{1}"},
    {"C15 all", "objects 0 5; 0.sa put @1; 0.sa put @2; 0.sa put @3", "0.sa", "0.sa all", "D{0,1,2}"},
    {"C16", "new 0", "0.sa", "del 0", "del"},
    {"C17 insert", "new 0; 0.di key b 1; 0.di key d 1; 0.di key f 1", "0.di", "0.di key a 1", "ins{a}"},
    {"C17 overwrite", "new 0; 0.di key b 1; 0.di key d 1; 0.di key f 1", "0.di", "0.di key d 2", "mod{d}"},
    {"C17 equal", "new 0; 0.di key b 1; 0.di key d 1; 0.di key f 1", "0.di", "0.di key d 1", "mod{d}"},
    {"C17 erase", "new 0; 0.di key b 1; 0.di key d 1; 0.di key f 1", "0.di", "0.di cut b", "del{b}"},
    {"C18", "new 0; 0.di key b 1; 0.di key d 1; 0.di key f 1", "0.di", "0.di cut f; 0.di key f 1", "del{f} ins{f}"},
    {"C19", "new 0; 0.di key a 1; 0.di key d 1; 0.di key f 1", "0.di", "0.di key c 1; 0.di cut a; 0.di key d 2", "del{a} ins{c} mod{d}"},
    {"C19 values", "new 0; 0.di key a 1; 0.di key d 1; 0.di key f 1", "of 0.di", "0.di key c 1; 0.di cut a; 0.di key d 2", "D{0} I{0} M{1→1}"},
    {"C20", "new 0; 0.di key c 1; 0.di key d 1; 0.di key f 1", "0.di", "0.di clr", "del{c,d,f} clr"},
    {"C21", "new 0; 0.di key x 1", "0.di", "del 0", "del{x} del"},
    {"C22 n", "objects 0 9; 0.da key k1 @7; 0.da key k2 @8", "0.da", "7.n=1", "mod{k1}"},
    {"C22 delete", "objects 0 9; 0.da key k1 @7; 0.da key k2 @8", "0.da", "del 8", "mod{k2}"},
    {"C23 outer", "new 0; 0.lm ins 0 1; 0.lm ins 1 []; 0.lm[1] ins 0 1; 0.lm ins 2 2", "0.lm", "0.lm[1] ins 0 5", "M{1→1}"},
    {"C23 inner", "new 0; 0.lm ins 0 1; 0.lm ins 1 []; 0.lm[1] ins 0 1; 0.lm ins 2 2", "0.lm[1]", "0.lm[1] ins 0 5", "I{0}"},
    {"C24 outer", "new 0; 0.lm ins 0 1; 0.lm ins 1 []; 0.lm ins 2 2", "0.lm", "0.lm ins 0 5", "I{0}"},
    {"C24 inner", "new 0; 0.lm ins 0 1; 0.lm ins 1 []; 0.lm ins 2 2", "0.lm[1]", "0.lm ins 0 5", "-"},
    {"C25 list", "new 0; 0.mx=[]; 0.mx ins 0 1", "0.mx", "0.mx ins 1 1", "I{1}"},
    {"C25 object", "new 0; 0.mx=[]; 0.mx ins 0 1", "object 0", "0.mx ins 1 1", "{mx}"},
    {"C25 list replaced", "new 0; 0.mx=[]; 0.mx ins 0 1", "0.mx", "0.mx=3", "D{0} del"},
    {"C25 object replaced", "new 0; 0.mx=[]; 0.mx ins 0 1", "object 0", "0.mx=3", "{mx}"},
    {"C26", "new 0; 0.mx=[]; 0.mx ins 0 {}", "0.mx", "0.mx[0] key k 1", "M{0→0}"},

    /* 11.3 Objects and key paths */
    {"O1", "objects 0 3", "object 0", "0.n=5; 0.s='x", "{n,s}"},
    {"O2", "objects 0 3", "object 0", "0.n=0", "{n}"},
    {"O3", "objects 0 3", "object 0", "0.li ins 0 1", "{li}"},
    {"O4 null", "objects 0 3; 0.link=@1", "object 0", "0.link=null", "{link}"},
    {"O4 link", "objects 0 3", "object 0", "0.link=@1", "{link}"},
    {"O4 target", "objects 0 3; 0.link=@1", "object 0", "1.n=9", "-"},
    {"O5", "objects 0 3", "object 0", "1.link=@0", "-"},
    {"O6", "objects 0 3", "object 0", "del 0", "deleted"},
    {"O6 later", "objects 0 3", "object 0", "del 0 | new 0 | 0.n=3", "deleted"},
    {"O7", "objects 0 3", "object 0", "0.n=5 | 0.s='x | 0.n=6", "{n,s}"},
    {"O8", "objects 0 3", "object 0", "0.n=5; del 0", "deleted"},
    {"O9 set", "objects 0 3", "object 0", "0.emb new", "{emb}"},
    {"O9 inside", "objects 0 3; 0.emb new", "object 0", "0.emb.n=4", "-"},
    {"O9 replace", "objects 0 3; 0.emb new", "object 0", "0.emb new", "{emb}"},
    {"O9 null", "objects 0 3; 0.emb new", "object 0", "0.emb=null", "{emb}"},
    {"O10", "objects 9 10; 9.link=@10", "object 9", "del 10", "{link}"},
    {"O11 default", "objects 0 3", "object 0", "0.n def 4", "-"},
    {"O11 add", "objects 0 3", "object 0", "0.n add 4", "{n}"},
    {"O11 list", "objects 0 3", "object 0", "0.mx=[]", "{mx}"},
    {"O11 in list", "objects 0 3; 0.mx=[]", "object 0", "0.mx ins 0 1", "{mx}"},
    {"O12 n", "objects 0 3; 0.link=@1", "object 0 @ n", "0.n=5", "{n}"},
    {"O12 s", "objects 0 3; 0.link=@1", "object 0 @ n", "0.s='x", "-"},
    {"O12 link", "objects 0 3; 0.link=@1", "object 0 @ n", "1.n=9", "-"},
    {"O13 own n", "objects 0 3; 0.link=@1", "object 0 @ link.n", "0.n=5", "-"},
    {"O13 n", "objects 0 3; 0.link=@1", "object 0 @ link.n", "1.n=5", "{link}"},
    {"O13 s", "objects 0 3; 0.link=@1", "object 0 @ link.n", "1.s='x", "-"},
    {"O13 link", "objects 0 3; 0.link=@1", "object 0 @ link.n", "0.link=@2", "{link}"},
    {"O13 new n", "objects 0 3; 0.link=@2", "object 0 @ link.n", "2.n=6", "{link}"},
    {"O14 n", "objects 0 3", "object 0 @ -", "0.n=5", "-"},
    {"O14 delete", "objects 0 3", "object 0 @ -", "del 0", "deleted"},
    {"O15 n", "objects 0 3; 0.link=@1", "object 0 @ *", "0.n=5", "{n}"},
    {"O15 target", "objects 0 3; 0.link=@1", "object 0 @ *", "1.n=5", "-"},
    {"O15 backlink", "objects 0 3", "object 0 @ *", "1.link=@0", "{backlink}"},
    {"O15 origin", "objects 0 3; 1.link=@0", "object 0 @ *", "1.n=5", "-"},
    {"O16 target", "objects 0 3; 0.link=@1; 1.link=@2", "object 0 @ *.*", "1.n=5", "{link}"},
    {"O16 target's target", "objects 0 3; 0.link=@1; 1.link=@2", "object 0 @ *.*", "2.n=5", "-"},
    {"O17 links", "objects 0 3", "object 0 @ bl", "1.link=@0", "{backlink}"},
    {"O17 n", "objects 0 3; 1.link=@0", "object 0 @ bl", "1.n=9", "-"},
    {"O17 unlinks", "objects 0 3; 1.link=@0", "object 0 @ bl", "1.link=null", "-"},
    {"O17 new", "objects 0 3", "object 0 @ bl", "new 7; 7.link=@0; new 8", "{backlink}"},
    {"O18 n", "objects 0 3; 1.link=@0", "object 0 @ bl.n", "1.n=9", "{backlink}"},
    {"O18 links", "objects 0 3; 1.link=@0", "object 0 @ bl.n", "2.link=@0", "-"},
    {"O21 0", CHAIN, "results id == 0", "0.n=9", "M{0→0}"},
    {"O21 1", CHAIN, "results id == 0", "1.n=9", "M{0→0}"},
    {"O21 2", CHAIN, "results id == 0", "2.n=9", "M{0→0}"},
    {"O21 3", CHAIN, "results id == 0", "3.n=9", "M{0→0}"},
    {"O21 4", CHAIN, "results id == 0", "4.n=9", "-"},
    {"O21 5", CHAIN, "results id == 0", "5.n=9", "-"},
    {"O21 6", CHAIN, "results id == 0", "6.n=9", "-"},
    {"O22 6", CHAIN, SIX_LINKS, "6.n=9", "M{0→0}"},
    {"O22 5", CHAIN, SIX_LINKS, "5.n=9", "-"},
    {"O22 3", CHAIN, SIX_LINKS, "3.link=@6", "M{0→0}"},
    {"O23 11", "objects 0 11; 10.link=@11; 11.link=@10", "results id == 10", "11.n=1", "M{0→0}"},
    {"O23 10", "objects 0 11; 10.link=@11; 11.link=@10", "results id == 10", "10.n=1", "M{0→0}"},
    {"O23 0", "objects 0 11; 10.link=@11; 11.link=@10", "results id == 10", "0.n=1", "-"},
    {"O24 list", "objects 0 3; 0.la refs 1 1", "results id == 0", "1.n=9", "M{0→0}"},
    {"O24 set", "objects 0 3; 0.sa put @1", "results id == 0", "1.n=9", "M{0→0}"},
    {"O24 dictionary", "objects 0 3; 0.da key k @1", "results id == 0", "1.n=9", "M{0→0}"},
    {"O24 Mixed", "objects 0 3; 0.mx=@1", "results id == 0", "1.n=9", "M{0→0}"},
    {"O24 list of Mixed", "objects 0 3; 0.lm ins 0 @1", "results id == 0", "1.n=9", "M{0→0}"},
    {"O24 set of Mixed", "objects 0 3; 0.sm put @1", "results id == 0", "1.n=9", "M{0→0}"},
    {"O24 dictionary of Mixed", "objects 0 3; 0.dm key k @1", "results id == 0", "1.n=9", "M{0→0}"},
    {"O24 embedded", "objects 0 3; 0.emb new", "results id == 0", "0.emb.n=9", "M{0→0}"},
    {"O24 in embedded", "objects 0 3; 0.emb new; 0.emb.a=@1", "results id == 0", "1.n=9", "M{0→0}"},
    {"O25 nested", "objects 0 3; 0.lm ins 0 []; 0.lm[0] ins 0 @1", "results id == 0", "1.n=9", "-"},
    {"O25 list in Mixed", "objects 0 3; 0.mx=[]; 0.mx ins 0 @1", "results id == 0", "1.n=9", "-"},
    {"O25 dictionary in Mixed", "objects 0 3; 0.mx={}; 0.mx key k @1", "results id == 0", "1.n=9", "-"},
    {"O25 after Mixed", "objects 0 3; 2.link=@0; 0.mx={}; 0.mx key k @1", "results id == 2", "1.n=9", "-"},
    {"O25 backlink", "objects 0 3; 1.link=@0", "results id == 0", "1.n=9", "-"},
    {"O26 n", "objects 0 3; 0.la refs 1 2", "results id == 0 @ la.n", "1.n=9", "M{0→0}"},
    {"O26 s", "objects 0 3; 0.la refs 1 2", "results id == 0 @ la.n", "1.s='x", "-"},
    {"O26 erase", "objects 0 3; 0.la refs 1 2", "results id == 0 @ la.n", "0.la era 0", "M{0→0}"},
    {"O26 own", "objects 0 3; 0.la refs 1 2", "results id == 0 @ la.n", "0.n=9", "-"},
    {"O27 n", "objects 0 3; 0.la refs 1 2", "results id == 0 @ la", "1.n=9", "-"},
    {"O27 insert", "objects 0 3; 0.la refs 1 2", "results id == 0 @ la", "0.la ins 0 @3", "M{0→0}"},
    {"O28 da.n", "objects 0 3; 0.da key k @1", "results id == 0 @ da.n", "1.n=9", "M{0→0}"},
    {"O28 sa.n", "objects 0 3; 0.sa put @1", "results id == 0 @ sa.n", "1.n=9", "M{0→0}"},
    {"O28 emb.n", "objects 0 3; 0.emb new", "results id == 0 @ emb.n", "0.emb.n=9", "M{0→0}"},
    {"O28 emb.a.n", "objects 0 3; 0.emb new; 0.emb.a=@1", "results id == 0 @ emb.a.n", "1.n=9", "M{0→0}"},
    {"O28 further", "objects 0 3; 0.emb new; 0.emb.a=@1", "results id == 0 @ emb.n", "1.n=9", "-"},
    {"O29 stays", "objects 0 4; 4.n=500", "results n >= 500 @ s", "4.n=600", "-"},
    {"O29 s", "objects 0 4; 4.n=500", "results n >= 500 @ s", "4.s='x", "M{0→0}"},
    {"O29 leaves", "objects 0 4; 4.n=500", "results n >= 500 @ s", "4.n=1", "D{0}"},
    {"O30", "objects 0 4; 4.n=500", "results n >= 500 @ id", "del 4", "D{0}"},

    /* 11.4 Results */
    {"R1 n", "objects 0 9", "results TRUEPREDICATE", "3.n=9", "M{3→3}"},
    {"R1 delete", "objects 0 9", "results TRUEPREDICATE", "del 3", "D{3}"},
    {"R1 create", "objects 0 8", "results TRUEPREDICATE", "new 10", "I{9}"},
    {"R2", "objects 1 10", "results TRUEPREDICATE", "del 4; new 4", "D{3} I{9}"},
    {"R3", "objects 0 9", "results TRUEPREDICATE", "new 10; del 10", "-"},
    {"R4", "objects 2 10", "results TRUEPREDICATE", "del 2; 9.n=1", "D{0} M{7→6}"},
    {"R5", "objects 0 9", "results TRUEPREDICATE", "new 10; 10.n=4", "I{10}"},
    {"R5 another between", "objects 0 9", "results TRUEPREDICATE", "new 10; new 11; 10.n=4", "I{10,11}"},
    {"R6", "objects 0 11", "results TRUEPREDICATE", "3.n=1 | del 2", "D{2} M{3→2}"},
    {"R7", "objects 0 9", "results TRUEPREDICATE", "del 4 | new 10 | 10.n=4", "D{4} I{9}"},
    {"R8", "objects 0 9", "results TRUEPREDICATE", "new 10 | del 10", "-"},
    {"R9 n", "objects 0 9", "results TRUEPREDICATE @ -", "1.n=9", "-"},
    {"R9 delete", "objects 0 9", "results TRUEPREDICATE @ -", "del 1", "D{1}"},
    {"R9 create", "objects 0 9", "results TRUEPREDICATE @ -", "new 10", "I{10}"},
    {"R10 last", "objects 0 11", "results TRUEPREDICATE SORT(n ASC)", "0.n=99", "D{0} I{11}"},
    {"R10 first", "objects 0 11; 11.n=99", "results TRUEPREDICATE SORT(n ASC)", "11.n=-1", "D{11} I{0}"},
    {"R11", "objects 0 11", "results TRUEPREDICATE SORT(n ASC)", "3.n=4; 4.n=3", "D{4} I{3} M{3→4}"},
    {"R12", "objects 0 11", "results TRUEPREDICATE SORT(n ASC)",
     "0.n=11; 1.n=10; 2.n=9; 3.n=8; 4.n=7; 5.n=6; 6.n=5; 7.n=4; 8.n=3; 9.n=2; 10.n=1; 11.n=0", "D{1…11} I{0…10} M{0→11}"},
    {"R13", "objects 0 11", "results TRUEPREDICATE SORT(n ASC)", "2.n=7", "D{2} I{6}"},
    {"R14", "objects 0 11", "results TRUEPREDICATE SORT(n ASC)", "9.n=-3; 10.n=-2; 11.n=-1", "D{9,10,11} I{0,1,2}"},
    {"R15 other", "objects 0 11", "results TRUEPREDICATE SORT(n ASC)", "0.s='x", "M{0→0}"},
    {"R15 equal", "objects 0 11", "results TRUEPREDICATE SORT(n ASC)", "0.n=0", "M{0→0}"},
    {"R16", "objects 0 4; 0.n=50; 1.n=60; 2.n=70; 3.n=80; 4.n=90", "results n >= 50 SORT(n ASC)", "4.n=50; 0.n=55", "D{4} I{0} M{0→1}"},
    {"R17 leaves", "objects 0 9", "results n >= 3 SORT(n ASC)", "5.n=1", "D{2}"},
    {"R17 enters", "objects 0 9; 0.n=5", "results n >= 3 AND id > 0 SORT(n ASC)", "1.n=5; 1.s='x", "I{2}"},
    {"R18", "objects 0 9", "results TRUEPREDICATE SORT(n ASC)", "del 2; new 10; 10.n=2", "D{2} I{2}"},
    {"R19 new", "objects 0 3", "results TRUEPREDICATE DISTINCT(s)", "1.s='new", "I{1}"},
    {"R19 too", "objects 0 3; 1.s='new", "results TRUEPREDICATE DISTINCT(s)", "2.s='new", "-"},
    {"R20", "objects 0 11", "results TRUEPREDICATE DISTINCT(n)", "6.n=5", "D{6}"},
    {"R21 top", "objects 0 5", "results TRUEPREDICATE SORT(id DESC) LIMIT(2)", "new 10", "D{1} I{0}"},
    {"R21 delete", "objects 0 5", "results TRUEPREDICATE SORT(id DESC) LIMIT(2)", "del 5", "D{0} I{1}"},
    {"R21 outside", "objects 0 5", "results TRUEPREDICATE SORT(id DESC) LIMIT(2)", "1.n=9", "-"},
    {"R22 leaves", "objects 0 9", "results n >= 3 LIMIT(3)", "3.n=0", "D{0} I{2}"},
    {"R22 delete", "objects 0 9", "results n >= 3 LIMIT(3)", "del 3", "D{0} I{2}"},
    {"R23 link", "objects 0 9", "results link.n > 5", "1.link=@7", "I{0}"},
    {"R23 falls", "objects 0 9; 1.link=@7", "results link.n > 5", "7.n=0", "D{0}"},
    {"R23 rises", "objects 0 9; 1.link=@7; 7.n=0", "results link.n > 5", "7.n=9", "I{0}"},
    {"R23 delete", "objects 0 9; 1.link=@7", "results link.n > 5", "del 7", "D{0}"},
    {"R24 third", "objects 0 9; 2.link=@1; 3.link=@1", "back 1", "4.link=@1", "I{2}"},
    {"R24 unlinks", "objects 0 9; 2.link=@1; 3.link=@1; 4.link=@1", "back 1", "2.link=null", "D{0,2} I{0}"},
    {"R25 origin", "objects 0 9; 2.link=@1; 3.link=@1", "back 1", "3.n=9", "M{1→1}"},
    {"R25 itself", "objects 0 9; 2.link=@1; 3.link=@1", "back 1", "1.n=9", "M{0→0,1→1}"},
    {"R26", "objects 0 9; 2.link=@1; 3.link=@1", "back 1", "del 1", "D{0,1}"},
    {"R26 silent", "objects 0 9; 2.link=@1; 3.link=@1", "back 1", "del 1 | 2.n=9 | new 1; 2.link=@1", "D{0,1}"},
    {"R27 move", "objects 0 9; 6.n=0; 0.la refs 7 7; 0.la refs 6 6; 0.la refs 3 3", "of 0.la n >= 3", "0.la mov 0 2", "D{1} I{0}"},
    {"R27 enters", "objects 0 9; 6.n=0; 0.la refs 6 6; 0.la refs 7 7; 0.la refs 3 3", "of 0.la n >= 3", "6.n=9", "I{0}"},
    {"R27 owner", "objects 0 9; 0.la refs 7 7; 0.la refs 6 6; 0.la refs 3 3", "of 0.la n >= 3", "del 0", "D{0,1,2}"},
    {"list of objects as results: set", "objects 0 9; 0.la refs 1 3", "of 0.la", "0.la set 1 @5", "D{1} I{1}"},
    {"list of objects as results: move", "objects 0 9; 0.la refs 1 3", "of 0.la", "0.la mov 0 2", "D{0} I{2}"},
    {"list of objects as results: owner", "objects 0 9; 0.la refs 1 3", "of 0.la", "del 0", "D{0,1,2}"},
    {"R28", "objects 0 9", "results n >= 8", "delete n >= 8", "D{0,1}"},
    {"R29", "objects 0 9", "results n >= 3 SORT(n ASC)", "other", "-"},
};

static void open_both(realm_t** r, realm_t** other) {
    char path[200];
    snprintf(path, sizeof path, "%s/%d.realm", folder, files++);
    *r = open_path(path, false);
    *other = *r ? open_path(path, false) : NULL;
    if (!CHECK(*other != NULL)) give_up();
}
static void close_realm(realm_t* r) {
    CHECK(realm_close(r));
    realm_release(r);
}
static bool refresh(realm_t* r) {
    bool did = false;
    CHECK(realm_refresh(r, &did));
    return did;
}
/* Checks the changes that a refresh reports; also as the first call. */
static void hears(const char* name, observer_t* o, const char* expected) {
    bool good = !strcmp(heard(o), expected);
    if (!CHECK(good)) printf("    %s: %s instead of %s\n", name, heard(o), expected);
    hear_anew(o);
}
static void try_row(const row_t* row, bool own) {
    realm_t *r, *other;
    observer_t o;
    section = row->name;
    open_both(&r, &other);
    CHECK(act(other, row->before));
    refresh(r);
    if (CHECK(observe(r, &o, row->observed))) {
        refresh(r);
        hears(row->name, &o, "empty");
        CHECK(act(own ? r : other, row->actions));
        refresh(r);
        hears(row->name, &o, row->expected);
        refresh(r);
        hears(row->name, &o, "-");
    }
    forget(&o);
    close_realm(r), close_realm(other);
}
static void table(void) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        try_row(&rows[i], false);
        if (!strchr(rows[i].actions, '|')) try_row(&rows[i], true);
    }
}

/* ---- Rows of several steps -------------------------------------------------------------------------------- */

static realm_t *r, *other;
/* Opens both Realms, fills the file, and adds the observer. */
static void start(const char* name, const char* before) {
    section = name;
    open_both(&r, &other);
    CHECK(act(other, before));
    refresh(r);
}
static void end(void) { close_realm(r), close_realm(other); }
/* Checks the changes that a commit of the other Realm reports. */
static void tells(observer_t* o, const char* actions, const char* expected) {
    CHECK(act(other, actions));
    refresh(r);
    hears(actions, o, expected);
}
static void several_callbacks(void) {
    observer_t a, b;
    start("O19", "objects 0 3");
    CHECK(observe(r, &a, "object 0 @ n"));
    memset(&b, 0, sizeof b), b.realm = r;
    CHECK(add_callback(&b, a.handle, 'o', "s"));
    refresh(r);
    hears("first", &a, "empty"), hears("first", &b, "empty");
    CHECK(act(other, "0.s='x"));
    refresh(r);
    hears("s", &a, "{s}"), hears("s", &b, "{s}");
    b.handle = NULL, forget(&b), forget(&a);
    end();

    start("O20", "objects 0 3");
    CHECK(observe(r, &a, "results TRUEPREDICATE @ n"));
    refresh(r);
    hears("first", &a, "empty");
    tells(&a, "0.s='x", "-");
    memset(&b, 0, sizeof b), b.realm = r;
    CHECK(add_callback(&b, a.handle, 'r', NULL));
    refresh(r);
    hears("first", &b, "empty");
    CHECK(act(other, "0.s='y"));
    refresh(r);
    hears("s", &a, "M{0→0}"), hears("s", &b, "M{0→0}");
    b.handle = NULL, forget(&b), forget(&a);
    end();
}
/* Callbacks with and without key paths on one handle: all get the changes that any of them watches (live-objects
   6.10). */
static const struct {
    const char *name, *before, *observed, *paths, *actions, *expected;
} mixed_rows[] = {
    {"linked object", "objects 0 3; 0.link=@1", "object 0", "link.n", "1.n=5", "{link}"},
    {"backlink", "objects 0 3", "object 0", "bl", "2.link=@0", "{backlink}"},
    {"object that links here", "objects 0 3; 2.link=@0", "object 0", "bl.n", "2.n=5", "{backlink}"},
    {"own property", "objects 0 3; 0.link=@1", "object 0", "link.n", "0.s='x", "{s}"},
    {"own and linked", "objects 0 3; 0.link=@1", "object 0", "link.n,n", "0.n=4; 0.s='x; 1.n=5", "{n,s,link}"},
    {"no paths at all", "objects 0 3", "object 0", "-", "0.n=4", "{n}"},
    {"neither", "objects 0 3; 0.link=@1", "object 0", "link.n", "1.s='x", "-"},
    {"deeper link", CHAIN, "results id == 0", "link.link.link.link.link.link.n", "6.n=7", "M{0→0}"},
    {"default depth", CHAIN, "results id == 0", "link.link.link.link.link.link.n", "3.n=7", "M{0→0}"},
    {"backlink of rows", "objects 0 3", "results id == 0", "bl", "2.link=@0", "M{0→0}"},
    {"sorted rows", "objects 0 3", "results id >= 0 SORT(id DESC)", "bl", "2.link=@0", "M{1→1,3→3}"},
    {"rows found anew", "objects 0 3", "results TRUEPREDICATE SORT(id DESC) DISTINCT(id)", "bl", "2.link=@0", "M{1→1,3→3}"},
    {"rows of a list", "objects 0 3; 0.la refs 1 2", "of 0.la n >= 0", "bl", "3.link=@2", "M{1→1}"},
    {"backlinks", "objects 0 3; 1.link=@0", "back 0", "bl", "3.link=@1", "M{0→0}"},
    {"list", "objects 0 3; 0.la refs 1 2", "0.la", "bl", "3.link=@2", "M{1→1}"},
    {"set", "objects 0 3; 0.sa put @1; 0.sa put @2", "0.sa", "bl", "3.link=@2", "M{1→1}"},
    {"dictionary", "objects 0 3; 0.da key a @1; 0.da key k @2", "0.da", "bl", "3.link=@2", "mod{k}"},
};
static void mixed_callbacks(void) {
    for (size_t i = 0; i < sizeof mixed_rows / sizeof *mixed_rows; i++)
        for (int order = 0; order < 2; order++)
            for (int own = 0; own < 2; own++) {
                observer_t a, b;
                char kind;
                start(mixed_rows[i].name, mixed_rows[i].before);
                memset(&a, 0, sizeof a), a.realm = r, b = a;
                void* handle = open_handle(r, mixed_rows[i].observed, &kind);
                CHECK(add_callback(&a, handle, kind, order ? mixed_rows[i].paths : NULL));
                CHECK(add_callback(&b, handle, kind, order ? NULL : mixed_rows[i].paths));
                refresh(r);
                hears("first", &a, "empty"), hears("first", &b, "empty");
                CHECK(act(own ? r : other, mixed_rows[i].actions));
                refresh(r);
                hears("mixed", &a, mixed_rows[i].expected), hears("mixed", &b, mixed_rows[i].expected);
                b.handle = NULL, forget(&b), forget(&a);
                end();
            }

    /* A callback's key paths no longer count after it ends. */
    observer_t a, b;
    start("one of two", "objects 0 3; 0.link=@1");
    CHECK(observe(r, &a, "object 0"));
    memset(&b, 0, sizeof b), b.realm = r;
    CHECK(add_callback(&b, a.handle, 'o', "link.n"));
    refresh(r), hear_anew(&a), hear_anew(&b);
    tells(&a, "1.n=5", "{link}");
    realm_release(b.token), b.token = NULL;
    tells(&a, "1.n=6", "-");
    tells(&a, "0.s='x", "{s}");
    CHECK(add_callback(&b, a.handle, 'o', "link.n"));
    refresh(r);
    realm_release(a.token), a.token = NULL;
    hear_anew(&b);
    tells(&b, "0.s='y", "-");
    tells(&b, "1.n=7", "{link}");
    b.handle = NULL, forget(&b), forget(&a);
    end();
}
/* A NULL callback: the registration succeeds, and its userdata is freed with the token (or with the handle). */
static void no_function(void) {
    static const char kinds[] = "olsdr";
    static const char* const observed[] = {"object 0", "0.li", "0.si", "0.di", "results TRUEPREDICATE"};
    for (size_t i = 0; i < sizeof observed / sizeof *observed; i++) {
        observer_t a, b;
        char kind;
        start("no function", "objects 0 1");
        memset(&a, 0, sizeof a), a.realm = r, b = a;
        void* h = open_handle(r, observed[i], &kind);
        CHECK(h && kind == kinds[i]);
        a.handle = h;
        if (kind == 'o') a.token = realm_object_add_notification_callback((realm_object_t*)h, &a, freed, NULL, NULL);
        if (kind == 'l') a.token = realm_list_add_notification_callback((realm_list_t*)h, &a, freed, NULL, NULL);
        if (kind == 's') a.token = realm_set_add_notification_callback((realm_set_t*)h, &a, freed, NULL, NULL);
        if (kind == 'd') a.token = realm_dictionary_add_notification_callback((realm_dictionary_t*)h, &a, freed, NULL, NULL);
        if (kind == 'r') a.token = realm_results_add_notification_callback((realm_results_t*)h, &a, freed, NULL, NULL);
        CHECK(a.token && add_callback(&b, h, kind, NULL));
        refresh(r);
        hears("first", &b, "empty");
        CHECK(act(other, "0.n=5; 0.li ins 0 1; 0.si put 1; 0.di key k 1"));
        refresh(r);
        CHECK(a.calls == 0 && a.frees == 0 && b.calls == 1);
        realm_release(a.token), a.token = NULL;
        CHECK(a.frees == 1);
        b.handle = NULL, forget(&b), forget(&a);
        end();
    }
}
static void in_steps(void) {
    observer_t o;
    start("L37", "new 0; 0.li fill 5");
    CHECK(observe(r, &o, "0.li"));
    refresh(r);
    hears("first", &o, "empty");
    CHECK(act(r, "0.li set 2 9"));
    hears("commit", &o, "-");
    CHECK(realm_begin_write(r));
    hears("begin", &o, "M{2→2}");
    CHECK(o.writable);
    CHECK(realm_rollback(r));
    forget(&o), end();

    start("L22", "new 0; 0.li fill 5");
    CHECK(observe(r, &o, "0.li"));
    refresh(r);
    hears("first", &o, "empty");
    CHECK(realm_begin_write(r)), statements(r, "0.li set 2 9"), CHECK(realm_rollback(r));
    refresh(r);
    hears("rolled back", &o, "-");
    forget(&o), end();

    start("O18", "objects 0 3; 1.link=@0");
    CHECK(observe(r, &o, "object 0 @ bl.n"));
    refresh(r);
    hears("first", &o, "empty");
    tells(&o, "2.link=@0", "-");
    tells(&o, "2.n=7", "{backlink}");
    tells(&o, "2.link=null", "-");
    forget(&o), end();

    start("R20", "objects 0 11");
    CHECK(observe(r, &o, "results TRUEPREDICATE DISTINCT(n)"));
    refresh(r);
    hears("first", &o, "empty");
    tells(&o, "6.n=5", "D{6}");
    tells(&o, "5.n=77", "I{6} M{5→5}");
    forget(&o), end();

    start("O31, O32", "objects 0 3");
    const char* bad[] = {"nope", "n.x", "link.nope", "*.nope"};
    for (size_t i = 0; i < 4; i++) FAILS(RLM_ERR_INVALID_ARGUMENT, realm_create_key_path_array(r, class_key(r, "A"), 1, &bad[i]));
    const char* good[] = {"", "link.", "*.n", "bl.*", "*.*", "link.*.n", "bl", "bl.link", "emb.a.link.bl"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        realm_key_path_array_t* k = realm_create_key_path_array(r, class_key(r, "A"), 1, &good[i]);
        if (!CHECK(k != NULL)) printf("    %s\n", good[i]);
        realm_release(k);
    }
    end();
}

/* ---- Delivery, without turns -------------------------------------------------------------------------------- */

static void all_kinds(bool own) {
    observer_t l, d, q, o;
    start(own ? "T1b" : "T1", "objects 0 3; 0.li fill 3; 0.di key a 1");
    CHECK(observe(r, &l, "0.li") && observe(r, &d, "0.di") && observe(r, &q, "results n >= 0") && observe(r, &o, "object 0"));
    const char* actions = "0.n=9; 0.li ins 0 4; 0.di key k 1; new 7; new 8";
    if (own) {
        CHECK(realm_begin_write(r));
        hears("begin", &l, "empty"), hears("begin", &d, "empty"), hears("begin", &q, "empty"), hears("begin", &o, "empty");
        statements(r, actions);
        CHECK(realm_commit(r));
    } else {
        CHECK(act(other, actions));
    }
    refresh(r);
    hears("list", &l, "I{0}"), hears("dictionary", &d, "ins{k}");
    hears("results", &q, own ? "I{4,5} M{0→0}" : "empty"), hears("object", &o, "{n,li,di}");
    forget(&l), forget(&d), forget(&q), forget(&o);
    end();
}
static void registration(void) {
    observer_t o, p;
    start("T2", "new 0");
    CHECK(realm_begin_write(r));
    CHECK(observe(r, &o, "0.li"));
    statements(r, "0.li ins 0 1");
    CHECK(realm_commit(r));
    refresh(r);
    hears("T2", &o, "I{0}");
    forget(&o), end();

    start("T3", "new 0");
    CHECK(observe(r, &o, "results TRUEPREDICATE"));
    CHECK(realm_begin_write(r));
    statements(r, "0.n=4");
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, observe(r, &p, "0.li"));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, observe(r, &p, "object 0"));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, observe(r, &p, "results n >= 0"));
    memset(&p, 0, sizeof p), p.realm = r;
    CHECK(add_callback(&p, o.handle, 'r', NULL));
    CHECK(realm_rollback(r));
    refresh(r);
    hears("T3", &p, "empty");
    p.handle = NULL, forget(&p), forget(&o), end();
}
static void order(void) {
    observer_t o;
    start("T5", "new 0");
    CHECK(observe(r, &o, "0.li"));
    refresh(r), hear_anew(&o);
    CHECK(act(other, "0.li ins 0 1 | 0.li ins 0 2"));
    CHECK(refresh(r));
    hears("T5", &o, "I{0,1}");
    CHECK(!refresh(r));
    hears("T5", &o, "-");

    section = "T6, T7";
    CHECK(act(other, "0.li set 0 5"));
    CHECK(realm_begin_write(r));
    hears("begin", &o, "M{0→0}");
    CHECK(o.writable);
    statements(r, "0.li ins 0 1");
    CHECK(realm_commit(r));
    hears("commit", &o, "-");
    refresh(r);
    hears("later", &o, "I{0}");
    CHECK(!o.writable);

    section = "T16";
    CHECK(act(other, "0.li ins 0 1"));
    realm_release(o.token), o.token = NULL;
    CHECK(o.frees == 1);
    refresh(r);
    hears("T16", &o, "-");
    forget(&o), end();

    start("T17", "new 0");
    observer_t rows;
    CHECK(observe(r, &o, "0.li") && observe(r, &rows, "results TRUEPREDICATE"));
    refresh(r), hear_anew(&o), hear_anew(&rows);
    realm_release(o.handle), o.handle = NULL;
    realm_release(rows.handle), rows.handle = NULL;
    CHECK(act(other, "0.li ins 0 1"));
    refresh(r);
    hears("T17", &o, "-"), hears("T17", &rows, "-");
    forget(&o), forget(&rows), end();
}

/* ---- Inside of callbacks -------------------------------------------------------------------------------- */

static void release_both(observer_t* o) {
    observer_t* next = (observer_t*)o->more;
    realm_release(o->token), o->token = NULL;
    realm_release(next->token), next->token = NULL;
}
static void write_once(observer_t* o) {
    if (!o->more) return;
    o->more = NULL;
    CHECK(realm_begin_write(o->realm));
    statements(o->realm, "0.li ins 0 7");
    CHECK(realm_commit(o->realm));
}
static void insert_once(observer_t* o) {
    if (!o->more) return;
    o->more = NULL;
    CHECK(realm_is_writable(o->realm));
    statements(o->realm, "0.li ins 0 7");
}
static void refresh_inside(observer_t* o) {
    bool did = true;
    CHECK(realm_refresh(o->realm, &did) && !did);
}
static void register_once(observer_t* o) {
    observer_t* next = (observer_t*)o->more;
    if (!next) return;
    o->more = NULL;
    CHECK(observe(o->realm, next, "0.li"));
}
static void close_inside(observer_t* o) { CHECK(realm_close(o->realm)); }

static void inside(void) {
    observer_t a, b, c;
    start("T9", "new 0");
    CHECK(observe(r, &a, "0.li"));
    memset(&b, 0, sizeof b), b.realm = r, c = b;
    CHECK(add_callback(&b, a.handle, 'l', NULL) && add_callback(&c, a.handle, 'l', NULL));
    refresh(r), hear_anew(&a), hear_anew(&b), hear_anew(&c);
    a.then = release_both, a.more = &b;
    CHECK(act(other, "0.li ins 0 1"));
    refresh(r);
    hears("first", &a, "I{0}"), hears("released", &b, "-"), hears("third", &c, "I{0}");
    CHECK(a.frees == 1 && b.frees == 1 && c.frees == 0);
    tells(&c, "0.li ins 0 1", "I{0}");
    hears("released", &a, "-");
    b.handle = c.handle = NULL, forget(&b), forget(&c), forget(&a), end();

    start("T10", "new 0; 0.li fill 1");
    CHECK(observe(r, &a, "0.li"));
    memset(&b, 0, sizeof b), b.realm = r;
    CHECK(add_callback(&b, a.handle, 'l', NULL));
    refresh(r), hear_anew(&a), hear_anew(&b);
    a.then = write_once, a.more = &b;
    CHECK(act(other, "0.li set 0 1"));
    refresh(r);
    hears("T10", &b, "M{0→0}");
    refresh(r);
    hears("T10", &a, "M{0→0} / I{0}"), hears("T10", &b, "I{0}");
    b.handle = NULL, forget(&b), forget(&a), end();

    start("T11", "new 0; 0.li fill 1");
    CHECK(observe(r, &a, "0.li"));
    refresh(r), hear_anew(&a);
    a.then = insert_once, a.more = &a;
    CHECK(act(other, "0.li set 0 1"));
    CHECK(realm_begin_write(r));
    hears("begin", &a, "M{0→0}");
    CHECK(realm_commit(r));
    refresh(r);
    hears("T11", &a, "I{0}");
    forget(&a), end();

    start("T12", "new 0; 0.li fill 1");
    CHECK(observe(r, &a, "0.li"));
    refresh(r), hear_anew(&a);
    a.then = refresh_inside;
    tells(&a, "0.li set 0 1", "M{0→0}");
    forget(&a), end();

    start("T13", "new 0; 0.li fill 1");
    CHECK(observe(r, &a, "0.li"));
    refresh(r), hear_anew(&a);
    a.then = register_once, a.more = &b;
    tells(&a, "0.li set 0 1", "M{0→0}");
    refresh(r);
    hears("T13", &b, "empty");
    tells(&a, "0.li set 0 1", "M{0→0}");
    hears("T13", &b, "M{0→0}");
    forget(&b), forget(&a), end();

    start("T14", "new 0; 0.li fill 1");
    CHECK(observe(r, &a, "0.li"));
    memset(&b, 0, sizeof b), b.realm = r;
    CHECK(add_callback(&b, a.handle, 'l', NULL));
    refresh(r), hear_anew(&a), hear_anew(&b);
    a.then = close_inside;
    CHECK(act(other, "0.li set 0 1"));
    bool did;
    (void)realm_refresh(r, &did);
    hears("closes", &a, "M{0→0}"), hears("closed", &b, "M{0→0}");
    CHECK(realm_is_closed(r));
    b.handle = NULL, forget(&b), forget(&a);
    realm_release(r), close_realm(other);
}

/* ---- Turns ---------------------------------------------------------------------------------------------- */

/* Waits for pending notifications. */
static void settle(void) {
    while (turn(100)) {}
}
static void start_with_turns(const char* name, const char* before) {
    char path[200];
    section = name;
    snprintf(path, sizeof path, "%s/%d.realm", folder, files++);
    r = open_path(path, true);
    other = r ? open_path(path, false) : NULL;
    if (!CHECK(other != NULL)) give_up();
    CHECK(act(other, before));
    refresh(r);
    settle();
}
/* Runs the scheduler until the observer was called `calls` times. */
static void await(observer_t* o, int calls) {
    while (o->calls < calls && turn(PATIENCE)) {}
}
static void awaits(const char* name, observer_t* o, const char* expected) {
    if (strcmp(expected, "-")) await(o, 1);
    settle();
    hears(name, o, expected);
}
typedef struct {
    int changed, lists_before;
    observer_t* list;
} moves_t;
static void moved(realm_userdata_t p) {
    moves_t* m = (moves_t*)p;
    m->changed++;
    m->lists_before = m->list->calls;
}
static void commit_inside(realm_userdata_t p) {
    moves_t* m = (moves_t*)p;
    if (!realm_is_writable(m->list->realm) && m->changed++ == 0) CHECK(act(m->list->realm, "0.li ins 0 3"));
}
static void with_turns(void) {
    observer_t o;
    start_with_turns("L1", "new 0; 0.li fill 3");
    CHECK(observe(r, &o, "0.li"));
    CHECK(o.calls == 0);
    awaits("L1", &o, "empty");
    section = "L36";
    CHECK(act(other, "0.li ins 0 9"));
    awaits("once", &o, "I{0}");
    CHECK(act(other, "0.li ins 0 9"));
    awaits("again", &o, "I{0}");
    section = "T4";
    CHECK(act(other, "0.li set 1 9"));
    awaits("T4", &o, "M{1→1}");
    section = "T7";
    CHECK(act(other, "0.li set 1 9"));
    CHECK(realm_begin_write(r));
    hears("begin", &o, "M{1→1}");
    statements(r, "0.li ins 0 9");
    CHECK(realm_commit(r));
    hears("commit", &o, "-");
    awaits("T7", &o, "I{0}");
    section = "T8";
    CHECK(realm_begin_write(r));
    statements(r, "0.li ins 0 9");
    settle();
    hears("in a write", &o, "-");
    CHECK(realm_commit(r));
    awaits("T8", &o, "I{0}");
    section = "T16";
    CHECK(act(other, "0.li set 1 9"));
    realm_release(o.token), o.token = NULL;
    settle();
    hears("T16", &o, "-");
    forget(&o), end();

    start_with_turns("T2", "new 0");
    CHECK(realm_begin_write(r));
    CHECK(observe(r, &o, "0.li"));
    statements(r, "0.li ins 0 1");
    CHECK(realm_commit(r));
    awaits("T2", &o, "I{0}");
    section = "T15";
    CHECK(act(other, "0.li ins 0 1"));
    CHECK(realm_close(r));
    settle();
    hears("T15", &o, "-");
    forget(&o);
    realm_release(r), close_realm(other);

    start_with_turns("T18", "new 0; 0.li fill 3");
    moves_t m = {0, 0, &o};
    CHECK(observe(r, &o, "0.li"));
    awaits("first", &o, "empty");
    realm_callback_token_t* token = realm_add_realm_changed_callback(r, moved, &m, nothing);
    CHECK(realm_begin_write(r));
    m.changed = 0;
    statements(r, "0.li set 0 1");
    CHECK(m.changed == 0);
    CHECK(realm_commit(r));
    CHECK(m.changed == 1 && o.calls == 0);
    awaits("T18", &o, "M{0→0}");
    section = "T19";
    m.changed = 0;
    CHECK(act(other, "0.li set 0 1"));
    awaits("turn", &o, "M{0→0}");
    CHECK(m.changed == 1 && m.lists_before == 0);
    CHECK(act(other, "0.li set 0 1"));
    refresh(r);
    hears("refresh", &o, "M{0→0}");
    CHECK(m.changed == 2 && m.lists_before == 0);
    settle();
    CHECK(act(other, "0.li set 0 1"));
    CHECK(realm_begin_write(r));
    hears("begin", &o, "M{0→0}");
    CHECK(m.changed == 3 && m.lists_before == 0);
    section = "T20";
    statements(r, "0.li set 0 1");
    CHECK(realm_rollback(r));
    settle();
    hears("T20", &o, "-");
    CHECK(m.changed == 3);
    realm_release(token);
    section = "T21";
    m.changed = 0;
    token = realm_add_realm_changed_callback(r, commit_inside, &m, nothing);
    CHECK(act(r, "0.li set 0 1"));
    settle();
    CHECK(m.changed >= 2);
    hears("T21", &o, "M{0→0} / I{0}");
    realm_release(token);
    forget(&o), end();

    section = "T23";
    start("T23", "new 0; 0.li fill 3");
    CHECK(observe(r, &o, "0.li"));
    settle();
    hears("turn", &o, "-");
    refresh(r);
    hears("refresh", &o, "empty");
    CHECK(act(other, "0.li set 0 1"));
    settle();
    hears("turn", &o, "-");
    refresh(r);
    hears("refresh", &o, "M{0→0}");
    forget(&o), end();

    delivers = false;
    start_with_turns("T24", "new 0; 0.li fill 3");
    CHECK(observe(r, &o, "0.li"));
    awaits("T24", &o, "empty");
    delivers = true;
    forget(&o), end();
}
/* ---- Observers that write ------------------------------------------------------------------------------- */

typedef struct {
    int left;      /* the number of writes to come */
    int each;      /* in one call */
    int inside, deepest, writable, refused;
    bool is_direct; /* in an open transaction it changes something but does not end the transaction */
} writer_t;
static void write_back(observer_t* o) {
    writer_t* w = (writer_t*)o->more;
    w->inside++;
    if (w->inside > w->deepest) w->deepest = w->inside;
    if (realm_is_writable(o->realm)) {
        w->writable++;
        if (!realm_begin_write(o->realm)) w->refused++;
        realm_clear_last_error();
        if (w->is_direct && w->left > 0) w->left--, statements(o->realm, "0.li ins 0 7");
    } else {
        for (int i = 0; i < w->each && w->left > 0; i++) w->left--, CHECK(act(o->realm, "0.li ins 0 7"));
    }
    w->inside--;
}
static void roll_back(observer_t* o) {
    if (realm_is_writable(o->realm)) CHECK(realm_rollback(o->realm));
}
/* Whether that many calls reported one insertion each. */
static bool hears_insertions(observer_t* o, int calls) {
    const char* at = o->calls ? text_of(&o->heard) : "";
    int found = 0;
    for (; !strncmp(at, "I{0}", 4); at += at[4] ? 7 : 4) found++;
    if (found != calls || *at) printf("    %s instead of %d insertions\n", heard(o), calls);
    return found == calls && !*at;
}
static size_t size_of_list(const char* name) {
    place_t p;
    size_t n = find_place(r, &name, &p) ? size_of(&p.collection) : 0;
    release_place(&p);
    return n;
}
typedef struct {
    realm_t* realm;
    int calls, left, inside, deepest;
    uint64_t last;
} changed_t;
static uint64_t version_of(const realm_t* of) {
    bool found = false;
    realm_version_id_t v = {0, 0};
    return realm_get_version_id(of, &found, &v) && found ? v.version : 0;
}
static void write_at_changes(realm_userdata_t p) {
    changed_t* c = (changed_t*)p;
    c->calls++, c->inside++;
    if (c->inside > c->deepest) c->deepest = c->inside;
    c->last = version_of(c->realm);
    if (c->left > 0 && !realm_is_writable(c->realm)) c->left--, CHECK(act(c->realm, "0.n add 1"));
    c->inside--;
}
static void insert_later(realm_userdata_t p) {
    statements((realm_t*)p, "0.li ins 0 7");
    unsigned id;
    CHECK(realm_async_commit((realm_t*)p, NULL, NULL, NULL, false, &id));
}
static void write_later(observer_t* o) {
    writer_t* w = (writer_t*)o->more;
    unsigned id;
    if (w->left-- > 0) CHECK(realm_async_begin_write(o->realm, insert_later, o->realm, NULL, false, &id));
}
/* Delivers due notifications: by turns of the scheduler, or by refreshing. */
static void tell_all(bool in_turns) {
    if (in_turns) return settle();
    uint64_t before;
    do {
        before = version_of(r);
        refresh(r);
    } while (before != version_of(r));
    refresh(r);
}
static void observers_that_write(bool in_turns) {
    void (*begin)(const char*, const char*) = in_turns ? start_with_turns : start;
    for (int own = 0; own < 2; own++) {
        observer_t a, b, c;
        writer_t w = {10, 1, 0, 0, 0, 0, false}, v = w;
        begin("each change of ten is answered", "new 0");
        CHECK(observe(r, &a, "0.li") && observe(r, &b, "0.li") && observe(r, &c, "results TRUEPREDICATE"));
        tell_all(in_turns);
        hear_anew(&a), hear_anew(&b), hear_anew(&c);
        a.then = write_back, a.more = &w;
        CHECK(act(own ? r : other, "0.li ins 0 7"));
        tell_all(in_turns);
        CHECK(size_of_list("0.li") == 11 && w.deepest == 1 && w.writable == 0);
        CHECK(hears_insertions(&a, 11)), CHECK(hears_insertions(&b, 11));
        CHECK(c.calls == 11);
        hear_anew(&a), hear_anew(&b), hear_anew(&c);
        a.then = NULL;

        section = "the last of two answers";
        w = v;
        b.then = write_back, b.more = &w;
        CHECK(act(own ? r : other, "0.li ins 0 7"));
        tell_all(in_turns);
        CHECK(size_of_list("0.li") == 22 && w.deepest == 1 && w.writable == 0);
        CHECK(hears_insertions(&a, 11)), CHECK(hears_insertions(&b, 11));
        hear_anew(&a), hear_anew(&b), hear_anew(&c);

        section = "two commits in one call";
        w.left = 2, w.each = 2, w.deepest = 0;
        CHECK(act(own ? r : other, "0.li ins 0 7"));
        tell_all(in_turns);
        CHECK(size_of_list("0.li") == 25 && w.deepest == 1 && w.left == 0);
        hears("writer", &b, "I{0} / I{0,1}");
        CHECK(!strcmp(heard(&a), "I{0} / I{0} / I{0}") || !strcmp(heard(&a), "I{0} / I{0,1}"));
        hear_anew(&a), hear_anew(&c);

        section = "in a write that begins";
        w = (writer_t){1, 1, 0, 0, 0, 0, true};
        CHECK(act(other, "0.li ins 0 7"));
        CHECK(realm_begin_write(r));
        CHECK(w.writable == 1 && w.refused == 1 && realm_is_writable(r));
        hears("writer", &b, "I{0}");
        CHECK(realm_commit(r));
        tell_all(in_turns);
        hears("writer", &b, "I{0}");
        CHECK(hears_insertions(&a, 2) && size_of_list("0.li") == 27);
        hear_anew(&a), hear_anew(&c);

        section = "a write that begins is undone";
        b.then = roll_back;
        CHECK(act(other, "0.li ins 0 7"));
        CHECK(realm_begin_write(r));
        CHECK(realm_is_writable(r));
        statements(r, "0.li ins 0 7");
        CHECK(realm_commit(r));
        b.then = NULL;
        tell_all(in_turns);
        CHECK(hears_insertions(&a, 2) && hears_insertions(&b, 2) && size_of_list("0.li") == 29);
        hear_anew(&a), hear_anew(&b), hear_anew(&c);

        if (in_turns) {
            section = "asynchronous writes";
            w = (writer_t){10, 1, 0, 0, 0, 0, false};
            a.then = write_later, a.more = &w;
            CHECK(act(own ? r : other, "0.li ins 0 7"));
            settle();
            CHECK(size_of_list("0.li") == 40);
            CHECK(hears_insertions(&a, 11)), CHECK(hears_insertions(&b, 11));
        }
        forget(&a), forget(&b), forget(&c), end();

        begin("a Realm that changes is written to", "new 0");
        changed_t x = {r, 0, 10, 0, 0, 0}, y = {r, 0, 0, 0, 0, 0};
        CHECK(observe(r, &a, "object 0"));
        tell_all(in_turns);
        hear_anew(&a);
        realm_callback_token_t* first = realm_add_realm_changed_callback(r, write_at_changes, &x, nothing);
        realm_callback_token_t* second = realm_add_realm_changed_callback(r, write_at_changes, &y, nothing);
        CHECK(act(own ? r : other, "0.s='x"));
        tell_all(in_turns);
        CHECK(x.calls >= 11 && y.calls >= 11 && x.last == version_of(r) && y.last == version_of(r));
        CHECK(strstr(heard(&a), "n"));
        section = "without end";
        x.left = y.left = 2000, x.deepest = 0;
        CHECK(act(own ? r : other, "0.s='y"));
        for (int i = 0; x.left > 0 && i < 5000; i++) tell_all(in_turns);
        CHECK(x.left == 0 && x.deepest < 50);
        x.left = y.left = 0;
        tell_all(in_turns);
        CHECK(x.last == version_of(r) && y.last == version_of(r));
        realm_release(first), realm_release(second);
        forget(&a), end();
    }
}
static void after_close(void) {
    observer_t o, p, again;
    char kind;
    start("T50", "new 0; 0.li fill 3");
    CHECK(observe(r, &o, "0.li") && observe(r, &p, "object 0"));
    void* rows = open_handle(r, "results TRUEPREDICATE", &kind);
    CHECK(rows && realm_close(r));
    memset(&again, 0, sizeof again), again.realm = r;
    FAILS(RLM_ERR_INVALIDATED_OBJECT, add_callback(&again, p.handle, 'o', NULL));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, add_callback(&again, o.handle, 'l', NULL));
    FAILS(RLM_ERR_STALE_ACCESSOR, add_callback(&again, rows, 'r', NULL));
    FAILS(RLM_ERR_CLOSED_REALM, realm_begin_write(r));
    realm_release(rows), forget(&o), forget(&p);
    realm_release(r), close_realm(other);
}
/* A child process that changes a file, started before this process has threads. */
static void child(const char* path, int commands, int answers) {
    char line[200];
    realm_t* own = NULL;
    FILE* in = fdopen(commands, "r");
    while (in && fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = 0;
        if (!own) own = open_path(path, false);
        char good = own && act(own, line) ? '+' : '-';
        if (write(answers, &good, 1) != 1) break;
    }
    _exit(0);
}
static int commands[2], answers[2];
static char shared_path[200];
static pid_t start_child(void) {
    snprintf(shared_path, sizeof shared_path, "%s/shared.realm", folder);
    if (pipe(commands) || pipe(answers)) return -1;
    pid_t pid = fork();
    if (pid == 0) {
        close(commands[1]);
        child(shared_path, commands[0], answers[1]);
    }
    close(commands[0]);
    return pid;
}
static void elsewhere(const char* actions) {
    char answer = 0;
    dprintf(commands[1], "%s\n", actions);
    CHECK(read(answers[0], &answer, 1) == 1 && answer == '+');
}
static void other_process(void) {
    observer_t o;
    section = "T51";
    elsewhere("new 0; 0.li fill 1");
    r = open_path(shared_path, true);
    if (!CHECK(r != NULL)) give_up();
    CHECK(observe(r, &o, "0.li"));
    awaits("first", &o, "empty");
    elsewhere("0.li ins 0 5");
    awaits("one", &o, "I{0}");
    elsewhere("0.li ins 1 5 | 0.li ins 2 5");
    refresh(r);
    settle();
    hears("two", &o, "I{1,2}");
    forget(&o);
    close_realm(r);
    close(commands[1]);
}

int main(void) {
    if (!mkdtemp(folder)) return 1;
    pid_t pid = start_child();
    CHECK(pid > 0);
    table();
    several_callbacks();
    mixed_callbacks();
    no_function();
    in_steps();
    all_kinds(false);
    all_kinds(true);
    registration();
    order();
    inside();
    with_turns();
    observers_that_write(false);
    observers_that_write(true);
    after_close();
    other_process();
    int status = 1;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    return finished(folder);
}
