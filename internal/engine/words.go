package engine

// commonWords are words that any general vocabulary has as tokens of their own and the book lacks.
const commonWords = `
amber apple april arrow autumn badge baker bamboo banner barrel basket beacon berry bishop blanket bottle branch
bridge bronze bucket butter button cabin camera candle canyon carbon carpet castle cedar cherry circle clover cobalt
coffee copper coral cotton cradle cricket crystal dancer desert dinner dragon eagle easter echo ember engine fabric
falcon farmer feather fiddle finger flower forest fossil garden garlic ginger glacier granite hammer harbor hazel
helmet hollow honey indigo island ivory jacket jasmine jungle kettle ladder lantern lemon linen lizard lobster
magnet maple marble market meadow melon mirror monkey mortar mustard nectar needle nickel ocean olive onion orange
orchid oyster paddle panda parade pepper pillow pirate planet pocket ponder prairie puzzle rabbit radio raven ribbon
river rocket saddle salmon sandal shadow silver spider spring stable summer access code archive record question
answer only file ledger number path phrase pass safe what which where when who how does know need city capital
country write words about sea story sentence sentences count line nothing else reply word ready done copy text
exactly following call save with value tool function result user system assistant message please thanks sorry help
find found there their they them then than that this these those have has had been being would could should will
shall may might can cannot not does did done make made take took first second third last next previous between after
before under over above below again always never often sometimes today tomorrow yesterday morning evening night week
month year hour minute water wave waves tide shore salt wind light blue green grey deep calm storm boat ship sail
fish gull sand rock cliff horizon sun moon star cloud rain snow ice fire house door window table chair book page
paper letter name mother father child brother sister friend people woman man school work world life time place home
hand head eye face voice heart mind money price market shop street road train station plane airport north south east
west left right up down open close start stop begin end long short high low big small old new young good bad best
worst better worse true false same different many much more most few less least one two three four five six seven
eight nine ten eleven twelve hundred thousand million information note noted moment one plan step drawer sensor
reading vault digits somebody whose unlock strongbox unlocking key clockmaker beside opens his document context
provided mentioned given contain contains see give tell sure unable any some none unknown`
