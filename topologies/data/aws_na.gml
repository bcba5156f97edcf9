graph [
  name "aws_na"
  description "AWS North America: 22 AWS edge cities, full mesh"
  node [
    id 0
    label "Ashburn"
    place "Ashburn"
    region "US-VA"
    published_index 0
    Latitude 39.04372
    Longitude -77.48749
  ]
  node [
    id 1
    label "Atlanta"
    place "Atlanta"
    region "US-GA"
    published_index 1
    Latitude 33.749
    Longitude -84.38798
  ]
  node [
    id 2
    label "Boston"
    place "Boston"
    region "US-MA"
    published_index 2
    Latitude 42.35843
    Longitude -71.05977
  ]
  node [
    id 3
    label "Chicago"
    place "Chicago"
    region "US-IL"
    published_index 3
    Latitude 41.85003
    Longitude -87.65005
  ]
  node [
    id 4
    label "Dallas"
    place "Dallas"
    region "US-TX"
    published_index 4
    Latitude 32.78306
    Longitude -96.80667
  ]
  node [
    id 5
    label "Denver"
    place "Denver"
    region "US-CO"
    published_index 5
    Latitude 39.73915
    Longitude -104.9847
  ]
  node [
    id 6
    label "Hayward"
    place "Hayward"
    region "US-CA"
    published_index 6
    Latitude 37.66882
    Longitude -122.0808
  ]
  node [
    id 7
    label "Jacksonville"
    place "Jacksonville"
    region "US-FL"
    published_index 7
    Latitude 30.33218
    Longitude -81.65565
  ]
  node [
    id 8
    label "Los Angeles"
    place "Los Angeles"
    region "US-CA"
    published_index 8
    Latitude 34.05223
    Longitude -118.24368
  ]
  node [
    id 9
    label "Miami"
    place "Miami"
    region "US-FL"
    published_index 9
    Latitude 25.77427
    Longitude -80.19366
  ]
  node [
    id 10
    label "Minneapolis"
    place "Minneapolis"
    region "US-MN"
    published_index 10
    Latitude 44.97997
    Longitude -93.26384
  ]
  node [
    id 11
    label "Montreal"
    place "Montr&#233;al"
    region "CA"
    published_index 11
    Latitude 45.50884
    Longitude -73.58781
  ]
  node [
    id 12
    label "New York"
    place "New York City"
    region "US-NY"
    published_index 12
    Latitude 40.71427
    Longitude -74.00597
  ]
  node [
    id 13
    label "Newark"
    place "Newark"
    region "US-NJ"
    published_index 13
    Latitude 40.73566
    Longitude -74.17237
  ]
  node [
    id 14
    label "Palo Alto"
    place "Palo Alto"
    region "US-CA"
    published_index 14
    Latitude 37.44188
    Longitude -122.14302
  ]
  node [
    id 15
    label "Phoenix"
    place "Phoenix"
    region "US-AZ"
    published_index 15
    Latitude 33.44838
    Longitude -112.07404
  ]
  node [
    id 16
    label "Philadelphie"
    place "Philadelphia"
    region "US-PA"
    published_index 16
    Latitude 39.95238
    Longitude -75.16362
  ]
  node [
    id 17
    label "San Jos&#233;"
    place "San Jose"
    region "US-CA"
    published_index 17
    Latitude 37.33939
    Longitude -121.89496
  ]
  node [
    id 18
    label "Seattle"
    place "Seattle"
    region "US-WA"
    published_index 18
    Latitude 47.60621
    Longitude -122.33207
  ]
  node [
    id 19
    label "South Bend"
    place "South Bend"
    region "US-IN"
    published_index 19
    Latitude 41.68338
    Longitude -86.25001
  ]
  node [
    id 20
    label "Saint-Louis"
    place "St. Louis"
    region "US-MO"
    published_index 20
    Latitude 38.62727
    Longitude -90.19789
  ]
  node [
    id 21
    label "Toronto"
    place "Toronto"
    region "CA"
    published_index 21
    Latitude 43.70643
    Longitude -79.39864
  ]
  edge [
    source 0
    target 1
    distance 852.9568222927837
    published_distance 853.092138569981
  ]
  edge [
    source 0
    target 2
    distance 655.8943374832161
    published_distance 656.1050233533227
  ]
  edge [
    source 0
    target 3
    distance 916.0203182083732
    published_distance 914.7931440112123
  ]
  edge [
    source 0
    target 4
    distance 1872.3224954400418
    published_distance 1871.8497206105035
  ]
  edge [
    source 0
    target 5
    distance 2360.7508626442827
    published_distance 2360.7635276410233
  ]
  edge [
    source 0
    target 6
    distance 3861.2383926142516
    published_distance 3861.238099417768
  ]
  edge [
    source 0
    target 7
    distance 1038.8171696849113
    published_distance 1038.8167298401481
  ]
  edge [
    source 0
    target 8
    distance 3660.061710497045
    published_distance 3659.9254502862022
  ]
  edge [
    source 0
    target 9
    distance 1493.172725103897
    published_distance 1493.1730813485979
  ]
  edge [
    source 0
    target 10
    distance 1460.3021846645258
    published_distance 1460.314133508598
  ]
  edge [
    source 0
    target 11
    distance 786.6416478666422
    published_distance 784.7182852703806
  ]
  edge [
    source 0
    target 12
    distance 350.8182753813351
    published_distance 350.7274179039602
  ]
  edge [
    source 0
    target 13
    distance 340.0918281443884
    published_distance 340.09192786503445
  ]
  edge [
    source 0
    target 14
    distance 3873.6920081806343
    published_distance 3875.0396766120275
  ]
  edge [
    source 0
    target 15
    distance 3150.3888056712076
    published_distance 3150.395323451448
  ]
  edge [
    source 0
    target 16
    distance 223.89430983082025
    published_distance 223.91829894009163
  ]
  edge [
    source 0
    target 17
    distance 3855.9425707449063
    published_distance 3291.057525681416
  ]
  edge [
    source 0
    target 18
    distance 3704.0053288661456
    published_distance 3703.863435823853
  ]
  edge [
    source 0
    target 19
    distance 799.4412953501794
    published_distance 799.4411175954349
  ]
  edge [
    source 0
    target 20
    distance 1103.670477936629
    published_distance 1107.0975338837575
  ]
  edge [
    source 0
    target 21
    distance 541.9210492146825
    published_distance 535.9576979790359
  ]
  edge [
    source 1
    target 2
    distance 1507.3051510870732
    published_distance 1507.6624250172397
  ]
  edge [
    source 1
    target 3
    distance 943.731743770573
    published_distance 945.669819979863
  ]
  edge [
    source 1
    target 4
    distance 1161.3080741547906
    published_distance 1160.3093237645205
  ]
  edge [
    source 1
    target 5
    distance 1950.4272195115082
    published_distance 1950.2543888674109
  ]
  edge [
    source 1
    target 6
    distance 3415.5287689548527
    published_distance 3415.331025537143
  ]
  edge [
    source 1
    target 7
    distance 458.37479753878546
    published_distance 458.5005551052243
  ]
  edge [
    source 1
    target 8
    distance 3117.061096207095
    published_distance 3116.7493686467387
  ]
  edge [
    source 1
    target 9
    distance 972.3468436269721
    published_distance 972.4458573042972
  ]
  edge [
    source 1
    target 10
    distance 1460.7237282955464
    published_distance 1460.4437251473812
  ]
  edge [
    source 1
    target 11
    distance 1598.2051773698597
    published_distance 1596.1913126477234
  ]
  edge [
    source 1
    target 12
    distance 1201.1077133273707
    published_distance 1201.1440348933015
  ]
  edge [
    source 1
    target 13
    distance 1191.319098246105
    published_distance 1191.4596373072573
  ]
  edge [
    source 1
    target 14
    distance 3422.9760898749983
    published_distance 3424.240113073714
  ]
  edge [
    source 1
    target 15
    distance 2562.1710170690676
    published_distance 2561.975341569105
  ]
  edge [
    source 1
    target 16
    distance 1071.6426998199636
    published_distance 1071.8150213152555
  ]
  edge [
    source 1
    target 17
    distance 3402.016822219973
    published_distance 2637.629154073622
  ]
  edge [
    source 1
    target 18
    distance 3511.9621508931154
    published_distance 3511.5906138185537
  ]
  edge [
    source 1
    target 19
    distance 895.7539562774098
    published_distance 895.7078127749027
  ]
  edge [
    source 1
    target 20
    distance 752.0681422951043
    published_distance 756.608036904567
  ]
  edge [
    source 1
    target 21
    distance 1186.8734532730236
    published_distance 1181.9884696133283
  ]
  edge [
    source 2
    target 3
    distance 1371.255591116267
    published_distance 1368.8695284111764
  ]
  edge [
    source 2
    target 4
    distance 2497.3388705952725
    published_distance 2497.1451457966486
  ]
  edge [
    source 2
    target 5
    distance 2847.951640607164
    published_distance 2848.0633403346264
  ]
  edge [
    source 2
    target 6
    distance 4321.545709140397
    published_distance 4321.627456137574
  ]
  edge [
    source 2
    target 7
    distance 1635.8523612116148
    published_distance 1636.0862626069988
  ]
  edge [
    source 2
    target 8
    distance 4178.700354439315
    published_distance 4178.661612636315
  ]
  edge [
    source 2
    target 9
    distance 2020.6057254204175
    published_distance 2020.8419840751033
  ]
  edge [
    source 2
    target 10
    distance 1808.413356661529
    published_distance 1808.5925442786931
  ]
  edge [
    source 2
    target 11
    distance 404.59121836582295
    published_distance 404.2815293402504
  ]
  edge [
    source 2
    target 12
    distance 306.22255284676174
    published_distance 306.5470647537847
  ]
  edge [
    source 2
    target 13
    distance 316.0795886361376
    published_distance 316.2933444157174
  ]
  edge [
    source 2
    target 14
    distance 4336.656611652349
    published_distance 4337.993871179956
  ]
  edge [
    source 2
    target 15
    distance 3701.3318858760517
    published_distance 3701.465145882
  ]
  edge [
    source 2
    target 16
    distance 435.86432403868764
    published_distance 436.0523329701142
  ]
  edge [
    source 2
    target 17
    distance 4321.126994430274
    published_distance 3811.3338106464407
  ]
  edge [
    source 2
    target 18
    distance 4010.9751797523213
    published_distance 4010.8970024672603
  ]
  edge [
    source 2
    target 19
    distance 1258.66434202355
    published_distance 1258.779784626528
  ]
  edge [
    source 2
    target 20
    distance 1670.546243031642
    published_distance 1673.2285821168553
  ]
  edge [
    source 2
    target 21
    distance 695.5772875150988
    published_distance 693.5194146870052
  ]
  edge [
    source 3
    target 4
    distance 1291.164909116385
    published_distance 1294.7628809401672
  ]
  edge [
    source 3
    target 5
    distance 1479.0053829233382
    published_distance 1481.308182717579
  ]
  edge [
    source 3
    target 6
    distance 2966.465966807338
    published_distance 2968.466497441696
  ]
  edge [
    source 3
    target 7
    distance 1386.4299169957155
    published_distance 1388.1190621943686
  ]
  edge [
    source 3
    target 8
    distance 2807.445359310204
    published_distance 2809.7929313533255
  ]
  edge [
    source 3
    target 9
    distance 1910.147282142767
    published_distance 1911.9107209890813
  ]
  edge [
    source 3
    target 10
    distance 572.1635977802011
    published_distance 571.9581870978088
  ]
  edge [
    source 3
    target 11
    distance 1202.6389496894615
    published_distance 1197.4957582515608
  ]
  edge [
    source 3
    target 12
    distance 1148.7429032931395
    published_distance 1146.7355698523086
  ]
  edge [
    source 3
    target 13
    distance 1134.4883531070916
    published_distance 1132.4534127116528
  ]
  edge [
    source 3
    target 14
    distance 2980.286124007754
    published_distance 2983.610365920602
  ]
  edge [
    source 3
    target 15
    distance 2337.8493310884332
    published_distance 2340.663525039403
  ]
  edge [
    source 3
    target 16
    distance 1071.9819448193855
    published_distance 1070.2277353308973
  ]
  edge [
    source 3
    target 17
    distance 2963.6634015936634
    published_distance 3556.403113632256
  ]
  edge [
    source 3
    target 18
    distance 2795.918761331551
    published_distance 2796.4910507988893
  ]
  edge [
    source 3
    target 19
    distance 117.8779650934668
    published_distance 116.23887254807731
  ]
  edge [
    source 3
    target 20
    distance 418.35777663540057
    published_distance 421.36371573488475
  ]
  edge [
    source 3
    target 21
    distance 705.6733522482591
    published_distance 702.4693684489885
  ]
  edge [
    source 4
    target 5
    distance 1064.822848339906
    published_distance 1066.0116946958742
  ]
  edge [
    source 4
    target 6
    distance 2356.037300196915
    published_distance 2357.1613418705715
  ]
  edge [
    source 4
    target 7
    distance 1462.578593566862
    published_distance 1461.5780412555603
  ]
  edge [
    source 4
    target 8
    distance 1995.18287751619
    published_distance 1996.128821740945
  ]
  edge [
    source 4
    target 9
    distance 1788.5911222544753
    published_distance 1787.4605279387554
  ]
  edge [
    source 4
    target 10
    distance 1388.1030730089753
    published_distance 1388.3351906346131
  ]
  edge [
    source 4
    target 11
    distance 2439.9003832037843
    published_distance 2437.565143524372
  ]
  edge [
    source 4
    target 12
    distance 2209.803531418195
    published_distance 2209.332009366533
  ]
  edge [
    source 4
    target 13
    distance 2196.9792402492562
    published_distance 2196.5625813504944
  ]
  edge [
    source 4
    target 14
    distance 2359.1616073193763
    published_distance 2361.788770852208
  ]
  edge [
    source 4
    target 15
    distance 1425.5477909137753
    published_distance 1426.5630927378922
  ]
  edge [
    source 4
    target 16
    distance 2092.0417189915324
    published_distance 2091.6110999555267
  ]
  edge [
    source 4
    target 17
    distance 2336.2865993955643
    published_distance 2846.7178430270765
  ]
  edge [
    source 4
    target 18
    distance 2705.0375508949737
    published_distance 2705.9620226203533
  ]
  edge [
    source 4
    target 19
    distance 1359.2415036696036
    published_distance 1359.2200159388317
  ]
  edge [
    source 4
    target 20
    distance 881.6157473571053
    published_distance 880.987875343986
  ]
  edge [
    source 4
    target 21
    distance 1940.4510925033908
    published_distance 1938.1200945218004
  ]
  edge [
    source 5
    target 6
    distance 1502.4019746320218
    published_distance 1502.3883254570585
  ]
  edge [
    source 5
    target 7
    distance 2361.0553470256523
    published_distance 2361.071316063779
  ]
  edge [
    source 5
    target 8
    distance 1337.774989396393
    published_distance 1337.6088195024995
  ]
  edge [
    source 5
    target 9
    distance 2776.755332318768
    published_distance 2776.772441661433
  ]
  edge [
    source 5
    target 10
    distance 1125.8430592002214
    published_distance 1125.5996537681995
  ]
  edge [
    source 5
    target 11
    distance 2635.9180248452
    published_distance 2634.1022923267255
  ]
  edge [
    source 5
    target 12
    distance 2625.1513993066537
    published_distance 2625.1825376590227
  ]
  edge [
    source 5
    target 13
    distance 2610.9010109808873
    published_distance 2610.9128484135153
  ]
  edge [
    source 5
    target 14
    distance 1514.0468325770805
    published_distance 1515.401823286749
  ]
  edge [
    source 5
    target 15
    distance 942.6042215494197
    published_distance 942.6026317734892
  ]
  edge [
    source 5
    target 16
    distance 2540.3615819690344
    published_distance 2540.3754110565246
  ]
  edge [
    source 5
    target 17
    distance 1495.8374743858046
    published_distance 3897.8806160833515
  ]
  edge [
    source 5
    target 18
    distance 1643.9370992973072
    published_distance 1643.6694018036476
  ]
  edge [
    source 5
    target 19
    distance 1594.5269334724949
    published_distance 1594.5384339202137
  ]
  edge [
    source 5
    target 20
    distance 1282.0937405253796
    published_distance 1277.9020959762138
  ]
  edge [
    source 5
    target 21
    distance 2164.9540096702494
    published_distance 2165.8585552229424
  ]
  edge [
    source 6
    target 7
    distance 3791.851853516803
    published_distance 3791.85128020832
  ]
  edge [
    source 6
    target 8
    distance 530.1196282609228
    published_distance 530.048691417085
  ]
  edge [
    source 6
    target 9
    distance 4144.463302847219
    published_distance 4144.463315139111
  ]
  edge [
    source 6
    target 10
    distance 2529.7383039530114
    published_distance 2529.5666962723058
  ]
  edge [
    source 6
    target 11
    distance 4071.7171090924962
    published_distance 4070.0798505550374
  ]
  edge [
    source 6
    target 12
    distance 4115.127903634111
    published_distance 4115.157600594571
  ]
  edge [
    source 6
    target 13
    distance 4100.876997764438
    published_distance 4100.877018910719
  ]
  edge [
    source 6
    target 14
    distance 25.780657209856958
    published_distance 25.876368376970767
  ]
  edge [
    source 6
    target 15
    distance 1020.1540443824615
    published_distance 1020.1424425903446
  ]
  edge [
    source 6
    target 16
    distance 4035.796119009325
    published_distance 4035.79580034461
  ]
  edge [
    source 6
    target 17
    distance 40.085241599276166
    published_distance 4885.874024141959
  ]
  edge [
    source 6
    target 18
    distance 1104.0948666256274
    published_distance 1103.8274544017725
  ]
  edge [
    source 6
    target 19
    distance 3083.716165402733
    published_distance 3083.7161208321527
  ]
  edge [
    source 6
    target 20
    distance 2782.651228651207
    published_distance 2778.5333783736146
  ]
  edge [
    source 6
    target 21
    distance 3628.505506039917
    published_distance 3630.1303355318873
  ]
  edge [
    source 7
    target 8
    distance 3456.336172863189
    published_distance 3456.242142276545
  ]
  edge [
    source 7
    target 9
    distance 525.1432908966874
    published_distance 525.1442000899008
  ]
  edge [
    source 7
    target 10
    distance 1917.0403910018726
    published_distance 1916.8752066629065
  ]
  edge [
    source 7
    target 11
    distance 1825.45861983124
    published_distance 1823.534981312184
  ]
  edge [
    source 7
    target 12
    distance 1343.4032342989951
    published_distance 1343.2578145236457
  ]
  edge [
    source 7
    target 13
    distance 1337.7299196706479
    published_distance 1337.7294648457837
  ]
  edge [
    source 7
    target 14
    distance 3797.3762303020185
    published_distance 3798.8637966173937
  ]
  edge [
    source 7
    target 15
    distance 2888.1004512143954
    published_distance 2888.1095391575845
  ]
  edge [
    source 7
    target 16
    distance 1219.4162869530762
    published_distance 1219.4528114234558
  ]
  edge [
    source 7
    target 17
    distance 3775.4587842421456
    published_distance 2272.5097157828986
  ]
  edge [
    source 7
    target 18
    distance 3951.190425262863
    published_distance 3950.9790338227917
  ]
  edge [
    source 7
    target 19
    distance 1325.3301795014627
    published_distance 1325.3297895421867
  ]
  edge [
    source 7
    target 20
    distance 1208.117302799399
    published_distance 1212.7687219221662
  ]
  edge [
    source 7
    target 21
    distance 1497.6276059839952
    published_distance 1491.9824975577935
  ]
  edge [
    source 8
    target 9
    distance 3764.251553361821
    published_distance 3764.178218478144
  ]
  edge [
    source 8
    target 10
    distance 2452.3062503831943
    published_distance 2451.9150654422638
  ]
  edge [
    source 8
    target 11
    distance 3973.667391582849
    published_distance 3971.6882636030427
  ]
  edge [
    source 8
    target 12
    distance 3944.41109516343
    published_distance 3944.2753995585103
  ]
  edge [
    source 8
    target 13
    distance 3930.2298329440073
    published_distance 3930.0870535113413
  ]
  edge [
    source 8
    target 14
    distance 515.495411381857
    published_distance 516.6674113131854
  ]
  edge [
    source 8
    target 15
    distance 575.4627193906335
    published_distance 575.382469375544
  ]
  edge [
    source 8
    target 16
    distance 3852.0763905637705
    published_distance 3851.9414637430505
  ]
  edge [
    source 8
    target 17
    distance 492.0823727586418
    published_distance 4387.620635097471
  ]
  edge [
    source 8
    target 18
    distance 1543.5984277596424
    published_distance 1543.1631774793375
  ]
  edge [
    source 8
    target 19
    distance 2920.689693224064
    published_distance 2920.5425489307713
  ]
  edge [
    source 8
    target 20
    distance 2557.980762260787
    published_distance 2554.2267928376805
  ]
  edge [
    source 8
    target 21
    distance 3500.776438663427
    published_distance 3501.3538465544902
  ]
  edge [
    source 9
    target 10
    distance 2432.2249577310945
    published_distance 2432.047473619605
  ]
  edge [
    source 9
    target 11
    distance 2267.9060150729238
    published_distance 2266.148781317169
  ]
  edge [
    source 9
    target 12
    distance 1753.2284965033803
    published_distance 1753.067653062323
  ]
  edge [
    source 9
    target 13
    distance 1750.4837727370066
    published_distance 1750.4839700983605
  ]
  edge [
    source 9
    target 14
    distance 4147.315216412041
    published_distance 4148.824376396919
  ]
  edge [
    source 9
    target 15
    distance 3188.9439721444555
    published_distance 3188.9544038360814
  ]
  edge [
    source 9
    target 16
    distance 1640.5910146212714
    published_distance 1640.630198694813
  ]
  edge [
    source 9
    target 17
    distance 4124.3093337142745
    published_distance 1800.7628087043818
  ]
  edge [
    source 9
    target 18
    distance 4399.362994838053
    published_distance 4399.137405378049
  ]
  edge [
    source 9
    target 19
    distance 1850.449171137096
    published_distance 1850.4496909153943
  ]
  edge [
    source 9
    target 20
    distance 1706.5716068788943
    published_distance 1711.098903954062
  ]
  edge [
    source 9
    target 21
    distance 1990.6822319193966
    published_distance 1984.8536024009782
  ]
  edge [
    source 10
    target 11
    distance 1542.0338762431418
    published_distance 1540.5614639865635
  ]
  edge [
    source 10
    target 12
    distance 1639.420800049771
    published_distance 1639.5596537580507
  ]
  edge [
    source 10
    target 13
    distance 1625.5631123882217
    published_distance 1625.6378197224897
  ]
  edge [
    source 10
    target 14
    distance 2546.4512908884412
    published_distance 2547.459727394119
  ]
  edge [
    source 10
    target 15
    distance 2059.5627751903176
    published_distance 2059.2991907125893
  ]
  edge [
    source 10
    target 16
    distance 1585.7029517334909
    published_distance 1585.7445695464446
  ]
  edge [
    source 10
    target 17
    distance 2532.563421285777
    published_distance 3982.773651282129
  ]
  edge [
    source 10
    target 18
    distance 2245.330031945072
    published_distance 2245.1636215237518
  ]
  edge [
    source 10
    target 19
    distance 676.1549652316546
    published_distance 676.116239048576
  ]
  edge [
    source 10
    target 20
    distance 750.0315882213152
    published_distance 745.8894162903507
  ]
  edge [
    source 10
    target 21
    distance 1113.2658483157345
    published_distance 1115.7884411086127
  ]
  edge [
    source 11
    target 12
    distance 533.7365392721405
    published_distance 532.5046492455209
  ]
  edge [
    source 11
    target 13
    distance 532.402256372767
    published_distance 530.9552975012575
  ]
  edge [
    source 11
    target 14
    distance 4088.481796767412
    published_distance 4088.0185200134483
  ]
  edge [
    source 11
    target 15
    distance 3530.483673813617
    published_distance 3528.5512489836347
  ]
  edge [
    source 11
    target 16
    distance 630.5629636152663
    published_distance 628.8868090926171
  ]
  edge [
    source 11
    target 17
    distance 4074.5813648324097
    published_distance 4066.8742995710977
  ]
  edge [
    source 11
    target 18
    distance 3683.061499289187
    published_distance 3681.818892004956
  ]
  edge [
    source 11
    target 19
    distance 1105.702719429162
    published_distance 1103.625574396113
  ]
  edge [
    source 11
    target 20
    distance 1568.5122529789862
    published_distance 1567.8767004208387
  ]
  edge [
    source 11
    target 21
    distance 502.7310861112657
    published_distance 502.10702739918554
  ]
  edge [
    source 12
    target 13
    distance 14.25738788499212
    published_distance 14.28298085571759
  ]
  edge [
    source 12
    target 14
    distance 4129.012660527682
    published_distance 4130.342330171592
  ]
  edge [
    source 12
    target 15
    distance 3450.949691889042
    published_distance 3450.948449450713
  ]
  edge [
    source 12
    target 16
    distance 129.7465401562498
    published_distance 129.60181091014726
  ]
  edge [
    source 12
    target 17
    distance 4112.406287864029
    published_distance 3551.9498077139133
  ]
  edge [
    source 12
    target 18
    distance 3875.5363793146084
    published_distance 3875.4948371372443
  ]
  edge [
    source 12
    target 19
    distance 1031.7910725306585
    published_distance 1031.8167824704196
  ]
  edge [
    source 12
    target 20
    distance 1406.3996940051943
    published_distance 1409.3111754616864
  ]
  edge [
    source 12
    target 21
    distance 555.4677931389778
    published_distance 551.2472669034609
  ]
  edge [
    source 13
    target 14
    distance 4114.759548373331
    published_distance 4116.060531536337
  ]
  edge [
    source 13
    target 15
    distance 3436.944853564685
    published_distance 3436.9510822174125
  ]
  edge [
    source 13
    target 16
    distance 121.06830819075606
    published_distance 121.03515994764935
  ]
  edge [
    source 13
    target 17
    distance 4098.151669094036
    published_distance 3549.812782139037
  ]
  edge [
    source 13
    target 18
    distance 3862.001164763627
    published_distance 3861.882862362753
  ]
  edge [
    source 13
    target 19
    distance 1017.5339640105431
    published_distance 1017.5340177970777
  ]
  edge [
    source 13
    target 20
    distance 1392.5616258974371
    published_distance 1395.4801875487535
  ]
  edge [
    source 13
    target 21
    distance 543.0272142317228
    published_distance 538.6521140560918
  ]
  edge [
    source 14
    target 15
    distance 1015.1104571998302
    published_distance 1016.5768423934534
  ]
  edge [
    source 14
    target 16
    distance 4049.0916823578077
    published_distance 4050.4127576770543
  ]
  edge [
    source 14
    target 17
    distance 24.737126662504068
    published_distance 4879.982055005485
  ]
  edge [
    source 14
    target 18
    distance 1129.1977183550487
    published_distance 1128.6414997167851
  ]
  edge [
    source 14
    target 19
    distance 3097.4423306608082
    published_distance 3098.748053362622
  ]
  edge [
    source 14
    target 20
    distance 2793.41916950501
    published_distance 2790.715010529249
  ]
  edge [
    source 14
    target 21
    distance 3643.958839017935
    published_distance 3646.790295998918
  ]
  edge [
    source 15
    target 16
    distance 3351.283402457716
    published_distance 3351.2980418885686
  ]
  edge [
    source 15
    target 17
    distance 990.4491118675861
    published_distance 3869.7889412551444
  ]
  edge [
    source 15
    target 18
    distance 1792.7690041202673
    published_distance 1792.4551315925862
  ]
  edge [
    source 15
    target 19
    distance 2445.9251161742486
    published_distance 2445.930566333144
  ]
  edge [
    source 15
    target 20
    distance 2047.8434617466023
    published_distance 2044.615927286498
  ]
  edge [
    source 15
    target 21
    distance 3042.0093504359115
    published_distance 3042.0793206423627
  ]
  edge [
    source 16
    target 17
    distance 4032.000055156183
    published_distance 3441.1010732297186
  ]
  edge [
    source 16
    target 18
    distance 3829.114341627407
    published_distance 3828.9753379488566
  ]
  edge [
    source 16
    target 19
    distance 954.1425108226846
    published_distance 954.1399748706126
  ]
  edge [
    source 16
    target 20
    distance 1303.776561825375
    published_distance 1306.926748813664
  ]
  edge [
    source 16
    target 21
    distance 545.3916646156099
    published_distance 540.1880764367846
  ]
  edge [
    source 17
    target 18
    distance 1141.0276965520584
    published_distance 5503.000819835471
  ]
  edge [
    source 17
    target 19
    distance 3080.7356849202697
    published_distance 3524.5060019514344
  ]
  edge [
    source 17
    target 20
    distance 2774.489573973954
    published_distance 3240.4260983830977
  ]
  edge [
    source 17
    target 21
    distance 3628.7685460860057
    published_distance 3764.4828124268442
  ]
  edge [
    source 18
    target 19
    distance 2909.092682579594
    published_distance 2908.9436973729844
  ]
  edge [
    source 18
    target 20
    distance 2774.727653674892
    published_distance 2769.8378097834106
  ]
  edge [
    source 18
    target 21
    distance 3330.910949774673
    published_distance 3334.173566478462
  ]
  edge [
    source 19
    target 20
    distance 477.6911270663414
    published_distance 478.2347295242777
  ]
  edge [
    source 19
    target 21
    distance 604.4935337306514
    published_distance 603.6803918514454
  ]
  edge [
    source 20
    target 21
    distance 1066.178163373903
    published_distance 1065.9046974441303
  ]
]
